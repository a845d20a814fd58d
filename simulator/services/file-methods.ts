// SPDX-License-Identifier: Apache-2.0
import { gzipSync } from "node:zlib";
import { DiskUsageInfo, FileInfo, type MachineServiceService } from "../../talos/api/gen/machine/machine.ts";
import { CallError } from "../machine/call-error.ts";
import { type Entry, filesOf, tarEntry, walk } from "./file-system.ts";
import { type Call, type Handlers, inPieces } from "./method.ts";

function entriesOf(call: Call, root: string, depth: number): readonly Entry[] {
  const entries = walk(filesOf(call.machine(), call.simulation.moment.now), root, depth);
  if (entries === undefined) throw new CallError("Unknown", `lstat ${root}: no such file or directory`);
  return entries;
}

function relative(root: string, path: string): string {
  const base = root === "/" ? "/" : `${root.replace(/\/+$/, "")}/`;
  return path.startsWith(base) ? path.slice(base.length) : ".";
}

export const fileMethods: Handlers<typeof MachineServiceService> = {
  async *read(call, { path }) {
    const files = filesOf(call.machine(), call.simulation.moment.now);
    const content = files.get(path);
    if (content === undefined) {
      const isFolder = [...files.keys()].some((known) => known.startsWith(`${path.replace(/\/+$/, "")}/`));
      throw isFolder
        ? new CallError("InvalidArgument", "path must be a regular file")
        : new CallError("NotFound", `stat ${path}: no such file or directory`);
    }
    yield* inPieces(Buffer.from(content));
  },

  async *list(call, request) {
    const root = request.root === "" ? "/" : request.root;
    const depth = request.recurse ? (request.recursionDepth > 0 ? request.recursionDepth : 64) : 1;
    const modified = BigInt(Math.floor(call.machine().bootedAt / 1_000));
    for (const entry of entriesOf(call, root, depth)) {
      const relativeName = relative(root, entry.path);
      yield FileInfo.fromPartial({
        name: entry.path,
        relativeName,
        size: BigInt(entry.size),
        isDir: entry.directory,
        // Go's mode bits: the directory flag is the highest one.
        mode: entry.directory ? 0x800001ed : 0o644,
        modified,
      });
    }
  },

  async *diskUsage(call, request) {
    for (const root of request.paths.length === 0 ? ["/"] : request.paths) {
      const entries = entriesOf(call, root, 64);
      const sizeOf = (path: string): number =>
        entries
          .filter((entry) => entry.path === path || entry.path.startsWith(`${path}/`))
          .reduce((sum, entry) => sum + entry.size, 0);
      const shown = entriesOf(call, root, Math.max(1, request.recursionDepth)).slice(1);
      for (const entry of shown.filter((candidate) => request.all || candidate.directory)) {
        yield DiskUsageInfo.fromPartial({
          name: entry.path,
          relativeName: relative(root, entry.path),
          size: BigInt(sizeOf(entry.path)),
        });
      }
      yield DiskUsageInfo.fromPartial({
        name: root,
        relativeName: ".",
        size: BigInt(sizeOf(root === "/" ? "" : root)),
      });
    }
  },

  async *copy(call, { rootPath }) {
    const { now } = call.simulation.moment;
    const files = filesOf(call.machine(), now);
    const base = rootPath.replace(/\/+$/, "");
    const wanted = [...files].filter(([path]) => path === base || path.startsWith(`${base}/`));
    if (wanted.length === 0) throw new CallError("Unknown", `lstat ${rootPath}: no such file or directory`);
    const entries = wanted.map(([path, text]) =>
      tarEntry(
        relative(rootPath, path).replace(/^\.$/, path.split("/").at(-1) ?? "file"),
        Buffer.from(text),
        now,
        true,
      ),
    );
    yield* inPieces(gzipSync(Buffer.concat([...entries, Buffer.alloc(1_024)])));
  },
};
