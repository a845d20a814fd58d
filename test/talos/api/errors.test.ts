// SPDX-License-Identifier: Apache-2.0
import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { fromGrpcError } from "../../../talos/api/grpc-error.ts";

/** As grpc-js and Go's gRPC word them. */
const details = {
  late: "Deadline exceeded after 5.000s,name resolution: 0.001s,metadata filters: 0.001s,time to current subchannel: 0.010s,Call serialized,remote_addr=10.0.0.5:50000",
  waiting: "Deadline exceeded after 2.500s,LB pick: 2.498s,Waiting for LB pick",
  noRoute:
    "No connection established. Last error: Error: connect EHOSTUNREACH 10.0.0.5:50000 - Local (10.0.0.1:52011). Resolution note: ",
  none: "No connection established. Last error: null. Resolution note: ",
  unknownName: "Name resolution failed for target dns:cp-1.lab:50000. Resolution note: ",
  proxied:
    'connection error: desc = "transport: Error while dialing: dial tcp 10.0.0.5:50000: connect: no route to host"',
  ofEtcd:
    'rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:2379: connect: connection refused"',
  preface: 'connection error: desc = "error reading server preface: EOF"',
  foreign:
    'connection error: desc = "transport: authentication handshake failed: tls: failed to verify certificate: x509: certificate signed by unknown authority"',
  expired:
    "No connection established. Last error: Error: 0A000415:SSL routines:ssl3_read_bytes:ssl/tls alert certificate expired:../deps/openssl/record/rec_layer_s3.c:911:SSL alert number 45",
};

test.each([
  [status.DEADLINE_EXCEEDED, details.late, "deadline-exceeded", "cp-1: no answer within 5 s"],
  [status.DEADLINE_EXCEEDED, details.waiting, "deadline-exceeded", "cp-1: no answer within 2.5 s"],
  [status.DEADLINE_EXCEEDED, "context deadline exceeded", "deadline-exceeded", "cp-1: no answer in time"],
  [status.UNAVAILABLE, details.noRoute, "unavailable", "cp-1: there is no route to the host"],
  [status.UNAVAILABLE, details.none, "unavailable", "cp-1: no connection could be made"],
  [status.UNAVAILABLE, details.unknownName, "unavailable", "cp-1: the host name is not known"],
  [status.UNAVAILABLE, details.proxied, "unavailable", "cp-1: 10.0.0.5:50000: there is no route to the host"],
  [status.UNAVAILABLE, details.ofEtcd, "unavailable", "cp-1: 127.0.0.1:2379: the connection was refused"],
  [status.UNAVAILABLE, details.preface, "unavailable", "cp-1: the connection was cut"],
  [
    status.UNAVAILABLE,
    details.foreign,
    "unavailable",
    "cp-1: authentication handshake failed: tls: failed to verify certificate: x509: certificate signed by unknown authority",
  ],
  [status.UNAVAILABLE, "Connection dropped", "unavailable", "cp-1: the connection was cut"],
  [
    status.INTERNAL,
    "Received RST_STREAM with code 2 (Internal server error)",
    "unavailable",
    "cp-1: the connection was cut",
  ],
  [status.UNKNOWN, "No status information received", "unavailable", "cp-1: the connection was cut"],
  [
    status.UNAVAILABLE,
    "Received HTTP status code 502",
    "unavailable",
    "cp-1: it answers with HTTP status 502: this is not the Talos API",
  ],
  // The words of the machine itself.
  [status.FAILED_PRECONDITION, "time is not in sync yet", "failed-precondition", "cp-1: time is not in sync yet"],
  [
    status.UNAVAILABLE,
    details.expired,
    "permission-denied",
    "cp-1: by its clock our client certificate has expired or is not valid yet",
  ],
])("status %i of a call is told in a sentence", (code, text, ours, message) => {
  expect(fromGrpcError({ code, details: text }, "cp-1")).toMatchObject({ code: ours, message });
});
