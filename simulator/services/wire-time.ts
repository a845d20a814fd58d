// SPDX-License-Identifier: Apache-2.0

/** Milliseconds since the epoch as google.protobuf.Timestamp. */
export function timestampOf(milliseconds: number): { seconds: bigint; nanos: number } {
  const seconds = Math.floor(milliseconds / 1_000);
  return { seconds: BigInt(seconds), nanos: Math.round((milliseconds - seconds * 1_000) * 1_000_000) };
}

/** google.protobuf.Duration in milliseconds. */
export function millisecondsOf(duration: { readonly seconds: bigint; readonly nanos: number } | undefined): number {
  return duration === undefined ? 0 : Number(duration.seconds) * 1_000 + duration.nanos / 1_000_000;
}
