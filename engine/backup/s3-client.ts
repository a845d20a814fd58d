// SPDX-License-Identifier: Apache-2.0
import { S3Client, type S3ClientConfig } from "@aws-sdk/client-s3";
import { TalosError } from "../../talos/errors.ts";

export interface S3Place {
  readonly bucket: string;
  /** Begins every name, without a slash at its end. @default nothing */
  readonly prefix?: string | undefined;
  /** @default what the environment and the AWS configuration say; us-east-1 beside an endpoint */
  readonly region?: string | undefined;
  /** URL of an S3-compatible store. @default AWS */
  readonly endpoint?: string | undefined;
  /** The bucket in the path rather than in the host name. @default true beside an endpoint */
  readonly pathStyle?: boolean | undefined;
  /** Encryption by the store. @default what the bucket says */
  readonly sse?: "AES256" | "aws:kms" | undefined;
  /** For `aws:kms`. @default the account's own key for S3 */
  readonly kmsKeyId?: string | undefined;
  /** Profile of the AWS configuration. @default the usual chain, instance role included */
  readonly profile?: string | undefined;
}

/** A client with credentials from the usual chain: environment, profiles, SSO, web identity, container, instance. */
export function s3Client({ region, endpoint, pathStyle, profile }: S3Place): S3Client {
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
export function s3Error(error: unknown, place: string): TalosError {
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
