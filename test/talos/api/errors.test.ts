// SPDX-License-Identifier: Apache-2.0
import { status } from "@grpc/grpc-js";
import { expect, test } from "vitest";
import { fromGrpcError } from "../../../talos/api/grpc-error.ts";

/** As grpc-js words them. */
const details = {
  late: "Deadline exceeded after 5.000s,name resolution: 0.001s,metadata filters: 0.001s,time to current subchannel: 0.010s,Call serialized,remote_addr=10.0.0.5:50000",
  expired:
    "No connection established. Last error: Error: 0A000415:SSL routines:ssl3_read_bytes:ssl/tls alert certificate expired:../deps/openssl/record/rec_layer_s3.c:911:SSL alert number 45",
};

test.each([
  [status.DEADLINE_EXCEEDED, details.late, "deadline-exceeded", "cp-1: no answer within 5 s"],
  [
    status.UNAVAILABLE,
    details.expired,
    "permission-denied",
    "cp-1: by its clock our client certificate has expired or is not valid yet",
  ],
])("status %i of a call is told in a sentence", (code, text, ours, message) => {
  expect(fromGrpcError({ code, details: text }, "cp-1")).toMatchObject({ code: ours, message });
});
