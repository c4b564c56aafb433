# One image for every organisation's server and for the coordinator.
FROM python:3.11-slim-bookworm AS build
WORKDIR /src
# `strip` takes the names of inner functions out of libraries: 40 MB that nobody reads there.
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends binutils >/dev/null
# Nothing is installed where the programs run: the environment there has no pip of its own.
RUN python -m venv --without-pip /opt/coterie
# The dependencies are a layer of their own, rebuilt only when pyproject.toml changes.
COPY pyproject.toml ./
RUN python -c "import tomllib; print('\n'.join(tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies']))" > requirements.txt \
 && pip --python /opt/coterie/bin/python install --no-cache-dir --no-compile --quiet -r requirements.txt \
 # What Coterie never loads: the packages' own tests and sources, Arrow's remote procedures and S3,
 # code for graphics cards, for building Fortran and for colouring source texts; and Arrow's second
 # and third copy of a library.
 && cd /opt/coterie/lib/python3.11/site-packages \
 && find . -type d -name tests -prune -exec rm -rf {} + \
 && rm -rf pyarrow/include pyarrow/libarrow_flight* pyarrow/libarrow_python_flight* pyarrow/_flight* \
           pyarrow/libarrow_s3* pyarrow/_s3fs* pyarrow/src pyarrow/_pyarrow_cpp_tests* \
           numba/cuda numpy/f2py numpy/distutils _duckdb-stubs adbc_driver_manager/_backward* pygments \
 && find . -type f -regex '.*\.\(pyi\|pyx\|pxd\|pxi\|h\|hpp\|c\|cc\|cpp\|a\)' -delete \
 && cd pyarrow && for copy in libarrow_python*.so.*.*.*; do \
      ln -sf "${copy%.*.*}" "$copy" && ln -sf "${copy%.*.*}" "${copy%.*.*.*}"; done \
 && cd .. && find llvmlite pyarrow adbc_driver_* -type f -name '*.so*' -exec strip --strip-unneeded {} +
COPY README.md LICENSE ./
# The rooms, and `coterie`, whose links make them one package.
COPY base base
COPY protos protos
COPY anonymity anonymity
COPY protocols protocols
COPY trust trust
COPY transport transport
COPY jobs jobs
COPY onetable onetable
COPY party party
COPY coordinator coordinator
COPY experiments experiments
COPY bench bench
COPY coterie coterie
RUN pip --python /opt/coterie/bin/python install --no-cache-dir --no-compile --quiet --no-deps .

FROM python:3.11-slim-bookworm
# /data: what the organisation puts in (party.yaml, certificates, tables). /state: what Coterie keeps.
# No pip, and no program that gives its user another one's rights.
RUN useradd --uid 10001 --create-home coterie \
 && install -d -o coterie -g coterie -m 0700 /data /state /out /var/cache/coterie /var/cache/python \
 && rm -rf /usr/local/bin/pip* /usr/local/lib/python3.11/site-packages/pip* /usr/local/lib/python3.11/ensurepip \
 && find / -xdev -type f -perm /6000 -exec chmod a-s {} +
COPY --from=build /opt/coterie /opt/coterie
ENV PATH=/opt/coterie/bin:$PATH PYTHONUNBUFFERED=1 NUMBA_CACHE_DIR=/var/cache/coterie \
    PYTHONPYCACHEPREFIX=/var/cache/python
USER coterie
WORKDIR /data
# Compiled loops are kept in a volume that starts with what these small jobs compile. The modules they
# load are kept compiled, too: the programs cannot write beside their sources, and without that a
# server takes twice the processor time to start, and so does each look at its health.
RUN coterie demo --out /tmp/warm --people 200 >/dev/null 2>&1 \
 && { coterie party health --config "$(find /tmp/warm -name party.yaml | head -n 1)" >/dev/null 2>&1 || true; } \
 && printf 'Age,Sex\n1,F\n2,F\n3,M\n4,M\n' > /tmp/warm/t.csv \
 && printf 'data: t.csv\nattributes: {Age: {}, Sex: {flat: true}}\nrequirement: [{qid: [Age, Sex], k: 2}]\n' > /tmp/warm/t.yaml \
 && coterie anonymise /tmp/warm/t.yaml --out /tmp/warm/table >/dev/null \
 && rm -rf /tmp/warm
VOLUME /var/cache/coterie
EXPOSE 7000
HEALTHCHECK --interval=10s --timeout=30s --start-period=120s --retries=4 \
  CMD ["coterie", "party", "health", "--config", "/data/party.yaml"]
ENTRYPOINT ["coterie"]
CMD ["party", "serve", "/data/party.yaml"]
