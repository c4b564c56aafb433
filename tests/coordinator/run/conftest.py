"""Fixtures for the commands of an analyst."""

import pytest


@pytest.fixture
def asked(houses, tmp_path, monkeypatch):
    """Three servers, the bank's with an operator who has to agree; and a job of their analyst."""
    monkeypatch.setenv("COTERIE_STATE", str(tmp_path / "analyst-state"))
    monkeypatch.setenv("COTERIE_IDENTITY", str(houses.folder / "certs" / "analyst.crt"))
    houses.write("bank", policy={"consent": "manual"})
    houses.serve_all()
    path = tmp_path / "job.yaml"
    path.write_text(houses.job())
    return houses, path, tmp_path / "out"
