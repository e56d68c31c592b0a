"""What plugin authors test with: a model server on the loopback address, a scripted model, builders of messages.

``host.testing.histories`` (random legal conversations) needs hypothesis and is imported by its own name.
``host.testing.conformance`` checks a store of your own, ``host.testing.refusing`` holds every refusal that services send.
"""

from host.provider.scripted import ScriptedProvider
from host.testing.loopback import Answer, LoopbackServer, completion, counting, fault
from host.testing.streams import Stream

__all__ = ["Answer", "LoopbackServer", "ScriptedProvider", "Stream", "completion", "counting", "fault"]
