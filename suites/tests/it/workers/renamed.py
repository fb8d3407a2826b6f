"""A worker that has one kernel of another worker under the name `foreign`, in a domain, and says nothing of its scheme: renamed.py OP KERNEL DOMAIN COMMAND.."""
import json
import subprocess
import sys

op, kernel, domain, command = sys.argv[1], sys.argv[2], json.loads(sys.argv[3]), sys.argv[4:]
other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
for line in sys.stdin.buffer:
    request = json.loads(line)
    payload = b""
    if request["command"] == "run":
        request["kernel"] = kernel
        payload = sys.stdin.buffer.read(request["source"].get("payload", {}).get("bytes", 0))
    other.stdin.write(json.dumps(request).encode() + b"\n" + payload)
    other.stdin.flush()
    answer = json.loads(other.stdout.readline())
    if answer["answer"] == "hello":
        answer["kernels"] = [{"op": op, "kernel": "foreign", "isa_path": "not stated", "domain": domain}]
        answer.pop("sources", None)
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n" + other.stdout.read(answer.get("bytes", 0)))
    sys.stdout.buffer.flush()
