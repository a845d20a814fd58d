// SPDX-License-Identifier: Apache-2.0
// The first file of an executable: loads the files that are inside of it, each at its first use, as Node loads them from a
// directory. Under the name of a Terraform provider it runs the provider, else the command if it has one. Named by an
// argument, as for the simulator's process, another file is run.
"use strict";
const { basename, dirname, join } = require("node:path");
const { getAsset, getRawAsset } = require("node:sea");
const { compileFunction } = require("node:vm");

const folder = dirname(process.execPath);
const { files, command, provider } = JSON.parse(getAsset("contents.json", "utf8"));
const loaded = new Map();
const decoder = new TextDecoder();

function load(name) {
  const known = loaded.get(name);
  if (known !== undefined) return known.exports;
  const module = { exports: {} };
  loaded.set(name, module);
  const filename = join(folder, name);
  const text = decoder.decode(getRawAsset(name)).replace(/^#!.*/, "");
  const run = compileFunction(text, ["exports", "require", "module", "__filename", "__dirname"], { filename });
  run(
    module.exports,
    (wanted) => (wanted.startsWith("./") ? load(wanted.slice(2)) : require(wanted)),
    module,
    filename,
    folder,
  );
  return module.exports;
}

const isProvider = basename(process.argv0).startsWith("terraform-provider-");
const main = isProvider ? provider : (command ?? provider);
const named = basename(process.argv[2] ?? "");
if (files.includes(named)) process.argv.splice(1, 1);
load(files.includes(named) ? named : main);
