// SPDX-License-Identifier: Apache-2.0
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import type { bucketSettings, ValuesOf } from "../../model/settings/index.ts";
import { TalosError } from "../../talos/errors.ts";
import { given } from "../../talos/given.ts";
import { isFileOfBackup } from "./backup.ts";
import { type BackupStore, ScratchFile, type StoredFile } from "./scratch-file.ts";

const partSize = 8 * 1024 * 1024;
/** The store's own limit; above it parts grow. */
const mostParts = 10_000;
/** No run takes longer than this, so that an older upload has no owner any more. */
const uploadsDieAfter = 24 * 3_600_000;

/** Backups in a bucket of any S3-compatible store. */
export function s3Store(where: S3Place): BackupStore {
  const client = s3Client(where);
  const prefix = where.prefix === undefined || where.prefix === "" ? "" : `${where.prefix.replace(/\/+$/, "")}/`;
  const place = `s3://${where.bucket}/${prefix}`.replace(/\/$/, "");
  const bucket = { Bucket: where.bucket };
  const key = (name: string) => ({ ...bucket, Key: `${prefix}${name}` });
  const encryption = given({ ServerSideEncryption: where.sse, SSEKMSKeyId: where.kmsKeyId });
  const asked = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw s3Error(error, place);
    }
  };
  return {
    place,
    scratch: () => ScratchFile.nameless(),
    add: (name, file, signal) => asked(() => upload(client, { ...key(name), ...encryption }, file, signal)),
    addText: (name, text, signal) =>
      asked(async () => {
        await client.send(new PutObjectCommand({ ...key(name), ...encryption, Body: text }), options(signal));
      }),
    list: (signal) =>
      asked(async () => {
        const files: StoredFile[] = [];
        let token: string | undefined;
        do {
          const request = { ...bucket, Prefix: prefix, Delimiter: "/", ContinuationToken: token };
          const page = await client.send(new ListObjectsV2Command(request), options(signal));
          for (const { Key = "", Size = 0 } of page.Contents ?? []) {
            files.push({ name: Key.slice(prefix.length), bytes: Size });
          }
          token = page.NextContinuationToken;
        } while (token !== undefined);
        return files;
      }),
    async *read(name, signal) {
      const about = `${place}/${name}`;
      let received = 0;
      let expected: number | undefined;
      try {
        const { Body, ContentLength } = await client.send(new GetObjectCommand(key(name)), options(signal));
        expected = ContentLength;
        for await (const piece of Body as AsyncIterable<Uint8Array>) {
          received += piece.length;
          yield piece;
        }
      } catch (error) {
        throw s3Error(error, about);
      }
      if (expected !== undefined && received !== expected) {
        throw new TalosError("unavailable", `${about}: the connection was cut after ${received} of ${expected} bytes`);
      }
    },
    remove: (name, signal) =>
      asked(async () => {
        await client.send(new DeleteObjectCommand(key(name)), options(signal));
      }),
    sweep: (now, signal) =>
      asked(async () => {
        const { Uploads = [] } = await client.send(
          new ListMultipartUploadsCommand({ ...bucket, Prefix: prefix }),
          options(signal),
        );
        for (const { Key = "", UploadId, Initiated } of Uploads) {
          // Others may keep their files in the same bucket.
          if (!isFileOfBackup(Key.slice(prefix.length))) continue;
          if (Initiated === undefined || now.getTime() - Initiated.getTime() < uploadsDieAfter) continue;
          await client.send(new AbortMultipartUploadCommand({ ...bucket, Key, UploadId }), options(signal));
        }
      }),
  };
}

/** In parts, one after the other. The object appears when all are there; on any failure the parts are given up. */
async function upload(
  client: S3Client,
  target: { readonly Bucket: string; readonly Key: string; readonly ServerSideEncryption?: "AES256" | "aws:kms" },
  file: ScratchFile,
  signal?: AbortSignal,
): Promise<void> {
  const { size } = await file.handle.stat();
  const { Bucket, Key } = target;
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(target), options(signal));
  try {
    const parts: { PartNumber: number; ETag: string | undefined }[] = [];
    for await (const Body of file.read(Math.max(partSize, Math.ceil(size / mostParts)))) {
      const PartNumber = parts.length + 1;
      const request = { Bucket, Key, UploadId, PartNumber, Body };
      const { ETag } = await client.send(new UploadPartCommand(request), options(signal));
      parts.push({ PartNumber, ETag });
    }
    const request = { Bucket, Key, UploadId, MultipartUpload: { Parts: parts } };
    await client.send(new CompleteMultipartUploadCommand(request), options(signal));
  } catch (error) {
    await giveUp(client, { Bucket, Key, UploadId });
    throw error;
  }
}

/** The failure that led here is the one to tell; parts that could not be given up are swept by a later prune. */
async function giveUp(client: S3Client, request: { Bucket: string; Key: string; UploadId: string | undefined }) {
  await client.send(new AbortMultipartUploadCommand(request)).catch(() => {});
}

function options(signal: AbortSignal | undefined): { abortSignal?: AbortSignal } {
  return signal === undefined ? {} : { abortSignal: signal };
}

export type S3Place = ValuesOf<typeof bucketSettings>;

/** A client with credentials from the usual chain: environment, profiles, SSO, web identity, container, instance. */
function s3Client({ region, endpoint, pathStyle, profile }: S3Place): S3Client {
  // It would warn of Node 20 on every first use; the release in use runs on it, and ours to update is our affair.
  process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = "true";
  const usualRegion = endpoint === undefined ? undefined : (process.env.AWS_REGION ?? "us-east-1");
  const config: S3ClientConfig = {
    maxAttempts: 5,
    // Checksums that only AWS knows would keep other stores out; the signature covers each part's hash anyway.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: { connectionTimeout: 10_000, requestTimeout: 60_000, throwOnRequestTimeout: true },
  };
  const chosenRegion = region ?? usualRegion;
  if (chosenRegion !== undefined) config.region = chosenRegion;
  if (endpoint !== undefined) config.endpoint = endpoint;
  if (pathStyle ?? endpoint !== undefined) config.forcePathStyle = true;
  if (profile !== undefined) config.profile = profile;
  return new S3Client(config);
}

interface SdkError {
  readonly name?: string;
  readonly message?: string;
  readonly code?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

/** What the store or the way to it says, as one of our errors. The names are those of the S3 API. */
function s3Error(error: unknown, place: string): TalosError {
  if (error instanceof TalosError) return error;
  const { name = "", message = "", code, $metadata } = error as SdkError;
  const status = $metadata?.httpStatusCode;
  const said = [name === "Error" ? "" : name, message].filter((part) => part !== "").join(": ");
  const options = (hint: string) => ({ hint, cause: error });
  if (name === "AbortError") return new TalosError("canceled", "stopped before the work was finished");
  if (name === "CredentialsProviderError" || name === "TokenProviderError") {
    const hint = "Set AWS_PROFILE, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or run where an instance role is.";
    return new TalosError("failed-precondition", `${place}: no AWS credentials were found (${message})`, options(hint));
  }
  if (name === "NoSuchBucket")
    return new TalosError("not-found", `${place}: there is no such bucket`, options("Make it first."));
  if (name === "NoSuchKey" || status === 404)
    return new TalosError("not-found", `${place}: not found`, { cause: error });
  if (/^Region is missing/.test(message)) {
    return new TalosError("invalid-input", `${place}: no region`, options("Name it, or set AWS_REGION."));
  }
  if (status === 301 || name === "PermanentRedirect") {
    return new TalosError("invalid-input", `${place}: the bucket is in another region`, options("Name its region."));
  }
  if (status === 401 || status === 403) {
    const hint = "The credentials must be allowed to list, read, write and delete there.";
    return new TalosError("permission-denied", `${place}: the store refuses: ${said}`, options(hint));
  }
  if (status === undefined || status >= 500 || status === 429) {
    const reason = said || code || "no answer";
    return new TalosError("unavailable", `${place}: the store does not answer as it should: ${reason}`, {
      cause: error,
    });
  }
  return new TalosError("failed-precondition", `${place}: the store refuses: ${said}`, { cause: error });
}
