import json
import sys

from google.protobuf import json_format

from domtap import Mismatch, apply
from domtap.v1 import dom_pb2

old = [dom_pb2.Element(ref=i, index=i, text=text) for i, text in enumerate("abcd")]
for case in json.load(open(sys.argv[1], encoding="utf-8")):
    try:
        now = apply(old, json_format.ParseDict(case["diff"], dom_pb2.Diff()))
        print(", ".join(f"{e.ref} {e.text}" for e in now))
    except Mismatch:
        print("mismatch")
