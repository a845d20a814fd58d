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
    ["a private key that was cut off", `-----BEGIN RSA PRIVATE KEY-----\n${canary}\n`],
    ["a password by another name", `passwd: ${canary}\npwd: ${canary}\n`],
    ["a key of a wireless network", `wifi: { ssid: home, psk: ${canary} }`],
    ["a login of a registry", JSON.stringify({ auths: { "registry.example": { auth: canary } } })],
    ["an assignment with pass in it", `exec DB_PASS_RO=${canary} MYSQL_PASS='a ${canary}' run`],
    ["a flag", `run --user me --password ${canary} --verbose`],
    ["a quoted flag", `run --registry-token 'a ${canary}' --verbose`],
    ["a flag in a list of words", JSON.stringify(["run", "--password", `a ${canary}`])],
    ["a flag with a sign", `run --client-secret=${canary}`],
    ["a field inside of another's value", `msg="login failed, password=${canary}"`],
    ["a cookie", `GET / Cookie: theme=dark; session=${canary}; a=b\n`],
    ["a cookie that is set", JSON.stringify({ "Set-Cookie": [`session=${canary}; Path=/`] })],
    ["headers as Go prints them", `map[Authorization:[Digest username=me, response=${canary}] Accept:[*/*]]`],
    ["an authorization with several words", `Authorization: AWS4-HMAC-SHA256 Credential=x, Signature=${canary}\n`],
    ["variables without end", `{ env: { A: ${"x".repeat(3_000)}, B: ${canary} } }`],
    ["JSON inside of JSON", JSON.stringify({ msg: JSON.stringify({ user: "me", password: canary, host: "x" }) })],
    ["JSON inside of JSON, with quotes in it", JSON.stringify({ msg: JSON.stringify({ password: `a"b ${canary}` }) })],
    [
      "JSON inside of JSON twice",
      JSON.stringify([JSON.stringify({ msg: JSON.stringify({ token: `a"b ${canary}` }) })]),
    ],
    ["JSON inside of JSON that was cut off", `{"msg":"{\\"password\\":\\"a ${canary}`],
    ["a name and password for curl", `curl -fsS -u robot:${canary} https://registry.example/v2`],
    ["the same in one word", `curl -urobot:${canary} https://registry.example/v2`],
    ["the same in quotes", `curl --user "robot:a ${canary}" https://registry.example/v2`],
    ["the same in a list of words", JSON.stringify(["curl", "--proxy-user", `robot:a ${canary}`])],
    ["a variable with secret in it", `exec SECRET_KEY_BASE=${canary} API_TOKEN_V2='a ${canary}' run`],
    ["a variable with secret in it, as a field", `SECRET_KEY_BASE: ${canary}\n`],
    ["a key in base64", Buffer.from(`-----BEGIN PRIVATE KEY-----\n${canary}`).toString("base64")],
  ])("lose the secret in %s", (_, text) => {
    const redacted = redactText(text);
    expect(redacted).not.toContain(canary);
    expect(redacted).not.toContain(Buffer.from(canary).toString("base64").slice(0, 8));
    expect(redacted).toContain("******");
  });

  test.each([
    ["a JSON web token", "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2lnbmF0dXJl"],
    ["GitHub", `ghp_${"a1".repeat(18)}`],
    ["GitHub, fine-grained", `github_pat_${"a1".repeat(30)}`],
    ["GitHub, an app", `ghs_${"a1".repeat(18)}`],
    ["GitLab", `glpat-${"a1".repeat(10)}`],
    ["GitLab, a runner", `glrt-${"a1".repeat(10)}`],
    ["npm", `npm_${"a1".repeat(18)}`],
    ["Docker Hub", `dckr_pat_${"a1".repeat(14)}`],
    ["Slack", "xoxb-123456789012-abcdefABCDEF"],
    ["AWS", "AKIAIOSFODNN7EXAMPLE"],
    ["AWS with its secret", "AKIAIOSFODNN7EXAMPLE:wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"],
    ["Hugging Face", `hf_${"aB".repeat(17)}`],
    ["PyPI", `pypi-${"AgEIcHlwaS5vcmc".repeat(3)}`],
    ["Google", `AIza${"aB1".repeat(11)}xy`],
    ["Stripe", `sk_live_${"aB1".repeat(8)}`],
    ["Stripe, restricted", `rk_test_${"aB1".repeat(8)}`],
    ["Stripe, a webhook", `whsec_${"aB1".repeat(8)}`],
    ["Vault", `hvs.${"aB1".repeat(10)}`],
  ])("lose a token of %s wherever it stands", (_, token) => {
    expect(redactText(`refused ${token}, "${token}" again`)).toBe('refused ******, "******" again');
  });

  test("lose a join token and an age key wherever they stand", () => {
    expect(redactText("joined with abcdef.0123456789abcdef now")).toBe("joined with ****** now");
    expect(redactText("AGE-SECRET-KEY-1QQQQ")).toBe("******");
  });

  test("keep what is no secret", () => {
    const text =
      'kubelet: running with basic authentication\nauthorization:\n  mode: Webhook\nauth:\n  username: me\nrun --key-file /x --verbose\nskipped 3 of sk-ip\nversion: v1.13.9\nsecrets:\n  file: secrets/lab.yaml\npasswordEnv: REGISTRY_PASSWORD\nuri: qemu+ssh://root@kvm.example:22/system\nat: https://[::1]:6443/x@y\nsecretName: tls\n{"msg":"{\\"host\\":\\"x\\"}"}\ncurl -fsS --url https://x.example\n';
    expect(redactText(text)).toBe(text);
  });

  test("keep what follows a block that is hidden", () => {
    expect(redactText("content: |\n  a\n  b\npath: /x\n")).toBe("content: |\n  ******\npath: /x\n");
    expect(redactText("env:\n  A: 1\ntype: x\n")).toBe("env:\n  ******\ntype: x\n");
    expect(redactText("environment:\n- A=1\n- B=2\nimage: x\n")).toBe("environment:\n  ******\nimage: x\n");
    expect(redactText('token: "a\n  b"\npath: /x\n')).toBe("token: ******\npath: /x\n");
  });

  /** Pieces of which a pattern that looks to the end from every place would make minutes. */
  const pieces = ["a-", "A=", "a.", "token = ", "password: '", "https://", "https://a:", "environment: [", "env: {"];
  const more = [
    "environment:\n",
    "\\n- ",
    '"',
    " ",
    "\n",
    "key: ",
    "--key ",
    "auth",
    "eyJ-",
    "eyJaaaaaaaa.",
    "ghp_",
    "a1b2c3.",
    "\\\\",
    '\\\\"',
    'key\\\\":\\\\"',
    "-u a:",
    "-u",
  ];
  const long = ["-----BEGIN PRIVATE KEY-----\n", "LS0tLS1CRUdJTi", "cookie: ", "authorization: [", "- ", "\t", "AKIA"];

  test("take time in proportion to their length, whatever they are made of", () => {
    const megabyte = 2 ** 20;
    for (const piece of [...pieces, ...more, ...long]) {
      const started = performance.now();
      redactText(piece.repeat(Math.ceil(megabyte / piece.length)));
      expect(performance.now() - started, JSON.stringify(piece)).toBeLessThan(5_000);
    }
    for (const [before, piece, after] of [
      ['key: "', " ", '" x'],
      ["key", " ", "x"],
      ["- ", "- ", "key"],
      ["key: '", "''", "x"],
    ] as const) {
      const started = performance.now();
      redactText(before + piece.repeat(megabyte) + after);
      expect(performance.now() - started, before).toBeLessThan(5_000);
    }
  });

  test("are the same when they are redacted twice", () => {
    fc.assert(fc.property(fc.string({ maxLength: 60 }), (text) => redactText(redactText(text)) === redactText(text)));
  });
});
