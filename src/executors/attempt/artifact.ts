import { createHash } from 'node:crypto';
import type { ResourceChange } from '#domain/runs/plans/model.ts';
import type { PlanSections } from '#domain/runs/plans/sections.ts';
import { canonicalJson } from '#domain/shared/commands/canonical.ts';
import { encodeFrame, FrameReader } from '../protocol/frames.ts';
import type { Tool } from '../protocol/request.ts';
import { AttemptFailure } from '../shared/errors.ts';

/** The plan phase passes this artifact, one frame of files, to the apply phase, which may run days later on another machine. */

const format = 3;
/** Formats of plans that an earlier release made and that still wait for approval. They keep the digest that reviewers saw. */
const readableFormats = [2, format];

/** Everything that a plan's digest covers. A change to any of it makes a different plan. */
export interface PlanFacts {
  readonly kind: 'opentofu' | 'command';
  readonly tool: Tool | null;
  readonly operation: string;
  /** Digest of the template's files and steps. */
  readonly sources: string;
  /** Digest of the modules that `init` fetched; empty if it fetched none. */
  readonly modules: string;
  readonly changes: readonly ResourceChange[];
  readonly drift: readonly ResourceChange[];
  /** The rest of the plan. Format 2 does not have it. */
  readonly sections?: PlanSections;
}

interface Manifest {
  readonly format: number;
  readonly facts: PlanFacts;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

interface Artifact {
  readonly facts: PlanFacts;
  readonly files: ReadonlyMap<string, Buffer>;
  readonly digest: string;
}

export function sha256(content: string | Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

/** Packs an artifact and computes its digest, which covers the facts and every byte of every file. */
export function packArtifact(
  facts: PlanFacts,
  files: ReadonlyMap<string, Buffer>,
): { artifact: Buffer; digest: string } {
  const manifest: Manifest = { format, facts, files: [...files].map(([path, { length }]) => ({ path, size: length })) };
  return { artifact: encodeFrame(manifest, Buffer.concat([...files.values()])), digest: digestPlan(manifest, files) };
}

/** @throws AttemptFailure `artifact_mismatch` if the bytes are not an artifact, or not the one that the digest names */
export function unpackArtifact(bytes: Buffer, expectedDigest: string | null): Artifact {
  const { manifest, body } = readManifest(bytes);
  const files = new Map<string, Buffer>();
  let start = 0;
  for (const { path, size } of manifest.files) {
    files.set(path, body.subarray(start, start + size));
    start += size;
  }
  if (start !== body.length) throw mismatch('it is damaged');
  const digest = digestPlan(manifest, files);
  if (expectedDigest !== null && digest !== expectedDigest) throw mismatch(`its digest is ${digest}`);
  return { facts: manifest.facts, files, digest };
}

function readManifest(bytes: Buffer): { manifest: Manifest; body: Buffer } {
  try {
    const [frame] = new FrameReader<Manifest>().push(bytes);
    if (frame && readableFormats.includes(frame.message.format)) return { manifest: frame.message, body: frame.body };
  } catch (cause) {
    throw mismatch('it is damaged', cause);
  }
  throw mismatch('another version of the service wrote it');
}

function mismatch(why: string, cause?: unknown): AttemptFailure {
  return new AttemptFailure('artifact_mismatch', `the stored plan is not the plan to apply: ${why}`, { cause });
}

function digestPlan({ format, facts }: Manifest, files: ReadonlyMap<string, Buffer>): string {
  const contents = Object.fromEntries([...files].map(([path, content]) => [path, sha256(content)]));
  return sha256(canonicalJson({ format, facts, contents }));
}
