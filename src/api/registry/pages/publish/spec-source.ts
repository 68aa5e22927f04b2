import type { UploadedFile } from '#api/edge/json/uploads.ts';
import { isObject } from '#api/web/forms/schema/plan/resolve.ts';
import { readTool } from '#api/workers/tool-fields.ts';
import { invalidField } from '#domain/shared/errors.ts';
import { parseStrictJson } from '#domain/shared/values/strict-json.ts';
import type { ShownVersion } from '../shown.ts';
import type { PublishForm } from './publish-form.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Folders that git and OpenTofu make beside the files. They are no part of a template. */
const leftOut = /(^|\/)\.(git|terraform)\//;

/** The spec that the form publishes: what is typed, with the files of the chosen source. @throws Invalid naming the field */
export function composeSpec(form: PublishForm, base: ShownVersion | null): Record<string, unknown> {
  const { tool, ...spec } = parseSpec(form);
  const { uploads: _, ...typed } = form;
  const chosen = readTool(typed, 'spec.tool');
  if (tool !== undefined && chosen)
    throw invalidField('spec.tool.name', 'the spec already names a tool: choose none here, or remove it from the spec');
  const used = chosen ?? tool;
  return withFiles({ ...spec, ...(used !== undefined && { tool: used }) }, form, base);
}

function parseSpec(form: PublishForm): Record<string, unknown> {
  const parsed = parseStrictJson(form.spec);
  if (!parsed.ok) {
    const { message, line, column } = parsed.problem;
    throw invalidField('spec', `line ${line}, column ${column}: ${message}`);
  }
  const spec = parsed.value;
  if (!isObject(spec)) throw invalidField('spec', 'must be an object, such as {"variables": …, "executor": …}');
  return spec;
}

function withFiles(
  spec: Record<string, unknown>,
  form: PublishForm,
  base: ShownVersion | null,
): Record<string, unknown> {
  if (form.source === 'spec') return spec;
  if (!isObject(spec['executor'])) throw invalidField('spec', 'needs an executor, such as {"kind": "opentofu"}');
  const { files, git, ...executor } = spec['executor'];
  if (files !== undefined || git !== undefined)
    throw invalidField('source', 'the spec already names files: choose "From the spec", or remove them from the spec');
  return { ...spec, executor: { ...executor, ...sourceOf(form, base) } };
}

function sourceOf(form: PublishForm, base: ShownVersion | null): Record<string, unknown> {
  if (form.source === 'upload') return { files: readFiles(form.uploads) };
  if (form.source === 'git') {
    const { git_url: url, git_ref: ref, git_path: path } = form;
    return { git: { url: url.trim(), ref: ref.trim(), ...(path.trim() && { path: path.trim() }) } };
  }
  const executor = isObject(base?.spec['executor']) ? base.spec['executor'] : {};
  if (executor['files'] !== undefined) return { files: executor['files'] };
  return executor['git'] === undefined ? {} : { git: executor['git'] };
}

/** The files by their paths. The folder that was chosen is no part of them. @throws Invalid for one that is not text */
function readFiles(uploads: readonly UploadedFile[]): Record<string, string> {
  if (uploads.length === 0) throw invalidField('files', 'select the files of the version, or a folder');
  const files = uploads
    .filter(({ path }) => !leftOut.test(path))
    .map(({ path, bytes }) => [path.replace(/^[^/]*\//, ''), read(path, bytes)]);
  return Object.fromEntries(files);
}

function read(path: string, bytes: Buffer): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw invalidField('files', `${path} is not text: a binary file needs a git source`);
  }
}
