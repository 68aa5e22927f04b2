import type { UploadedFile } from '#api/edge/json/uploads.ts';
import { isObject } from '#api/web/forms/schema/plan/resolve.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { readTool } from '#api/workers/tool-fields.ts';
import { Invalid, invalidField } from '#domain/shared/errors.ts';
import { describeJsonProblem, parseStrictJson } from '#domain/shared/values/strict-json.ts';
import type { ShownVersion } from '../views.ts';
import type { PublishForm } from './publish-form.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/** Folders that git and OpenTofu create beside the files. They do not belong to a template. */
const leftOut = /(^|\/)\.(git|terraform)\//;

/**
 * Builds the spec to publish: the typed spec with the files of the chosen source. Adds the problems of its parts to the visit, so that the
 * form shows all of them at once.
 */
export function composeSpec(visit: Visit, form: PublishForm, base: ShownVersion | null): Record<string, unknown> {
  const parsed = visit.collect(() => parseSpec(form)) ?? { executor: {} };
  const { tool, ...spec } = parsed;
  const { uploads: _, ...typed } = form;
  const chosen = visit.collect(() => readTool(typed, 'spec.tool'));
  if (tool !== undefined && chosen)
    visit.addProblem('spec.tool.name', 'the spec already names a tool: choose none here, or remove it from the spec');
  if (form.uploads.length > 0 && form.source !== 'upload')
    visit.addProblem(
      'source',
      'files are selected, and another source is chosen: choose "Upload files", or select no files',
    );
  const used = chosen ?? tool;
  const whole = { ...spec, ...(used !== undefined && { tool: used }) };
  return visit.collect(() => withFiles(whole, form, base)) ?? withAnyFiles(whole);
}

/** Replaces missing files by a valid file. The problem of the files is known, and the operation can check the rest of the spec. */
function withAnyFiles(spec: Record<string, unknown>): Record<string, unknown> {
  const executor = isObject(spec['executor']) ? spec['executor'] : {};
  return { ...spec, executor: { ...executor, files: { 'main.tf': '' } } };
}

function parseSpec(form: PublishForm): Record<string, unknown> {
  const parsed = parseStrictJson(form.spec);
  if (!parsed.ok) throw invalidField('spec', describeJsonProblem(parsed.problem));
  const spec = parsed.value;
  if (!isObject(spec)) throw invalidField('spec', 'must be an object, such as {"variables": …, "executor": …}');
  return spec;
}

/** Only the executor of OpenTofu has a git source. */
const commandsByUpload = 'templates of commands take files by upload or from the spec only, not from git';

function withFiles(
  spec: Record<string, unknown>,
  form: PublishForm,
  base: ShownVersion | null,
): Record<string, unknown> {
  if (form.source === 'spec') {
    const executor = isObject(spec['executor']) ? spec['executor'] : {};
    if (executor['kind'] === 'command' && executor['git'] !== undefined) throw invalidField('spec', commandsByUpload);
    return spec;
  }
  if (!isObject(spec['executor'])) throw invalidField('spec', 'needs an executor, such as {"kind": "opentofu"}');
  const { files, git, ...executor } = spec['executor'];
  if (executor['kind'] === 'command' && form.source === 'git') throw invalidField('source', commandsByUpload);
  if (files !== undefined || git !== undefined)
    throw invalidField('source', 'the spec already names files: choose "From the spec", or remove them from the spec');
  return { ...spec, executor: { ...executor, ...sourceOf(form, base) } };
}

function sourceOf(form: PublishForm, base: ShownVersion | null): Record<string, unknown> {
  if (form.source === 'upload') return { files: readSelected(form) };
  if (form.source === 'git') {
    const { git_url: url, git_ref: ref, git_path: path } = form;
    return { git: { url: url.trim(), ref: ref.trim(), ...(path.trim() && { path: path.trim() }) } };
  }
  const executor = isObject(base?.spec['executor']) ? base.spec['executor'] : {};
  if (executor['files'] !== undefined) return { files: executor['files'] };
  return executor['git'] === undefined ? {} : { git: executor['git'] };
}

/** The files that are selected now, or else those of the form that was shown again. @throws Invalid naming the field */
export function readSelected({ uploads, selected }: PublishForm): Record<string, string> {
  return (uploads.length > 0 ? null : parseSelected(selected)) ?? readFiles(uploads);
}

/** The files that a form sent back, by path; null if it sent none. */
function parseSelected(selected: string): Record<string, string> | null {
  const kept = parseStrictJson(selected);
  if (!kept.ok || !isObject(kept.value)) return null;
  return Object.fromEntries(Object.entries(kept.value).map(([path, text]) => [path, String(text)]));
}

/** The form with the selected files as text, so that it can be shown again. Files that cannot be read must be selected again. */
export function keepSelected(form: PublishForm): PublishForm {
  try {
    return { ...form, selected: JSON.stringify(readSelected(form)) };
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
    return { ...form, selected: '' };
  }
}

/** The texts of files, by path. Paths do not include the selected folder itself. @throws Invalid for a file that is not text */
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
