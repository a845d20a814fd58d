// SPDX-License-Identifier: Apache-2.0
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { redactText } from "../../../cli/support/redact-text.ts";

describe("texts for strangers", () => {
  const canary = "CaNaRy123";
  test.each([
    ["a field of a mapping", `token: ${canary}\n`],
    ["a quoted field", `  "clientSecret": "${canary} and more"\n`],
    ["a field inside of braces", `{ user: me, password: ${canary}, host: x }`],
    ["JSON", JSON.stringify({ nested: { passphrase: canary } })],
    ["a block of text", `files:\n  - content: |\n      first\n      ${canary}\n    path: /x\n`],
    ["an assignment in a log", `level=info api_key=${canary} msg=started`],
    ["a field with spaces", `password: correct horse ${canary}\n`],
    ["a field with a tag", `- token: !!str ${canary}\n`],
    ["a field of an INI file", `aws_secret_access_key = correct ${canary}\n`],
    ["a quoted field with quotes in it", `password: 'it''s ${canary}'\n`],
    ["JSON with quotes in it", JSON.stringify({ password: `a"${canary}` })],
    ["JSON with YAML in it", JSON.stringify({ before: `auth:\n  password: correct horse ${canary}\n` })],
    ["a quoted field over several lines", `password: "correct\n  horse ${canary}"\npath: /x\n`],
    ["an address with a password", `mirror: https://robot:${canary}@registry.example/v2\n`],
    ["a header of a request", `GET /v2 Authorization: Basic ${canary}\n`],
    ["a bearer's ticket in a log", `refused Bearer ${canary}.x.y of robot\n`],
    ["a container's variables", `environment:\n  - SOME=${canary}\n  - "OTHER=a\n    ${canary}"\nimage: x\n`],
    ["variables right below their key", `- kind: ContainerConfig\n  environment:\n  - SOME=${canary}\n  image: x\n`],
    ["variables in brackets", `{ environment: [SOME=${canary}, 'B=]${canary}'], image: x }`],
    ["variables in JSON", JSON.stringify({ environment: [`SOME="]${canary}`] })],
    ["variables of a machine", `machine:\n  env:\n    SOME: ${canary}\n  type: worker\n`],
    ["variables of a machine in braces", `machine: { env: { SOME: ${canary}, B: '}${canary}' }, type: worker }`],
    ["a manifest", `manifest: |\n  a: ${canary}\nname: x\n`],
    ["a private key", `-----BEGIN EC PRIVATE KEY-----\n${canary}\n-----END EC PRIVATE KEY-----\n`],
    ["a key in base64", Buffer.from(`-----BEGIN PRIVATE KEY-----\n${canary}`).toString("base64")],
  ])("lose the secret in %s", (_, text) => {
    const redacted = redactText(text);
    expect(redacted).not.toContain(canary);
    expect(redacted).not.toContain(Buffer.from(canary).toString("base64").slice(0, 8));
    expect(redacted).toContain("******");
  });

  test("lose a join token and an age key wherever they stand", () => {
    expect(redactText("joined with abcdef.0123456789abcdef now")).toBe("joined with ****** now");
    expect(redactText("AGE-SECRET-KEY-1QQQQ")).toBe("******");
  });

  test("keep what is no secret", () => {
    const text =
      "kubelet: running with basic authentication\nversion: v1.13.9\nsecrets:\n  file: secrets/lab.yaml\npasswordEnv: REGISTRY_PASSWORD\nuri: qemu+ssh://root@kvm.example:22/system\nat: https://[::1]:6443/x@y\n";
    expect(redactText(text)).toBe(text);
  });

  test("keep what follows a block that is hidden", () => {
    expect(redactText("content: |\n  a\n  b\npath: /x\n")).toBe("content: |\n  ******\npath: /x\n");
    expect(redactText("env:\n  A: 1\ntype: x\n")).toBe("env:\n  ******\ntype: x\n");
    expect(redactText("environment:\n- A=1\n- B=2\nimage: x\n")).toBe("environment:\n  ******\nimage: x\n");
    expect(redactText('token: "a\n  b"\npath: /x\n')).toBe("token: ******\npath: /x\n");
  });

  test.each([
    "a-",
    "token = ",
    "password: '",
    "https://",
    "environment: [",
    "env: {",
    "environment:\n",
    "\\n- ",
    '"',
    " ",
  ])("take no longer for it when they are long and made of %j", (piece) => {
    const text = piece.repeat(200_000 / piece.length);
    const started = performance.now();
    redactText(text);
    // Milliseconds, where one pattern that looks to the end from every place would take minutes.
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  test("are the same when they are redacted twice", () => {
    fc.assert(fc.property(fc.string({ maxLength: 60 }), (text) => redactText(redactText(text)) === redactText(text)));
  });
});
