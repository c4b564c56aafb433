"""What both ends of a connection agree on before anything is said."""

from coterie.coordinator.run import client
from coterie.trust.identity import CHANNEL_OPTIONS, SERVER_OPTIONS


def test_signs_of_life_are_asked_for_often_enough_and_no_oftener_than_servers_permit():
    """A server breaks the connection with a client whose pings come too often."""
    server = dict(SERVER_OPTIONS)
    for options in (dict(CHANNEL_OPTIONS), dict(client._OPTIONS), server):
        every = options["grpc.keepalive_time_ms"]
        assert server["grpc.http2.min_recv_ping_interval_without_data_ms"] < every < 60_000
        assert options["grpc.http2.max_pings_without_data"] == 0
