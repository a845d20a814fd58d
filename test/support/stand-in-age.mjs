#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// Stands in for `age -d -i <key file>`, with the same format by another implementation.
import { readFileSync } from "node:fs";
import { armor, Decrypter } from "age-encryption";

const [decrypt, flag, keys] = process.argv.slice(2);
if (decrypt !== "-d" || flag !== "-i") throw new Error("the stand-in for age only takes -d -i <key file>");
const decrypter = new Decrypter();
for (const line of readFileSync(keys, "utf8").split("\n"))
  if (line.startsWith("AGE-SECRET-KEY-")) decrypter.addIdentity(line);
const sealed = readFileSync(0);
const armored = sealed.toString("latin1").startsWith("-----BEGIN AGE");
process.stdout.write(await decrypter.decrypt(armored ? armor.decode(sealed.toString()) : sealed, "text"));
