import semver from 'semver';
import { UploadedFile } from '#api/edge/json/uploads.ts';
import { yesIf } from '#api/web/forms/fields/yes.ts';
import { toLines } from '#api/web/forms/read-form.ts';
import { isObject } from '#api/web/forms/schema/plan/resolve.ts';
import { Invalid } from '#domain/shared/errors.ts';
import type { ShownVersion } from '../views.ts';

/** The possible sources of a version's files. */
export const sources = ['keep', 'upload', 'git', 'spec'] as const;
export type Source = (typeof sources)[number];

const textNames = [
  'version',
  'changelog',
  'spec',
  'spec.tool.name',
  'spec.tool.version',
  'source',
  'base',
  'git_url',
  'git_ref',
  'git_path',
  'derive',
  'check_environment_id',
  'only',
  'selected',
] as const;
const fileNames = ['files', 'folder'] as const;
export const publishNames: readonly string[] = [...textNames, ...fileNames];

/**
 * The typed values of the form. Browsers do not keep selected files, so `selected` contains those of a form that is shown again, as JSON:
 * their texts by path.
 */
export interface PublishForm extends Readonly<Record<(typeof textNames)[number], string>> {
  readonly uploads: readonly UploadedFile[];
}

/** @throws Invalid for an unknown or repeated field */
export function readPublishForm(body: unknown): PublishForm {
  const given = new Map(Object.entries(body ?? {}));
  const unknown = [...given.keys()].find((name) => name !== 'key' && !publishNames.includes(name));
  if (unknown !== undefined) throw new Invalid(`the form has no field ${JSON.stringify(unknown)}`);
  const texts = textNames.map((name) => {
    const value = given.get(name) ?? '';
    if (typeof value !== 'string') throw new Invalid(`the field "${name}" must be sent once, as text`);
    return [name, toLines(value)];
  });
  const uploads = fileNames
    .flatMap((name) => [given.get(name) ?? []].flat())
    .filter((file) => file instanceof UploadedFile);
  return { ...(Object.fromEntries(texts) as Omit<PublishForm, 'uploads'>), uploads };
}

const firstSpec = { executor: { kind: 'opentofu' } };

/** The initial form for the first version of a template. */
export function blankForm(): PublishForm {
  return {
    ...nothing,
    version: '0.1.0',
    spec: JSON.stringify(firstSpec, null, 2),
    source: 'upload',
    derive: yesIf(true),
  };
}

/** Sorts the members of a spec into the order in which people write them. */
function inOrder(spec: Record<string, unknown>): Record<string, unknown> {
  const names = ['variables', 'outputs', 'executor', 'approval', 'timeouts', 'pool', 'retry_safe', 'connections'];
  const known = names.filter((name) => Object.hasOwn(spec, name)).map((name) => [name, spec[name]]);
  return { ...Object.fromEntries(known), ...spec };
}

const nothing: PublishForm = {
  version: '',
  changelog: '',
  spec: '',
  'spec.tool.name': '',
  'spec.tool.version': '',
  source: 'spec',
  base: '',
  git_url: '',
  git_ref: '',
  git_path: '',
  derive: '',
  check_environment_id: '',
  only: '',
  selected: '',
  uploads: [],
};

/** The initial form for the version after another one. */
export function fillForm({ version, spec }: ShownVersion): PublishForm {
  const executor = isObject(spec['executor']) ? spec['executor'] : {};
  const { files, git, ...rest } = executor;
  const { tool, ...others } = spec;
  // The form has no field for a connection, so such a repository stays in the spec.
  const isInSpec = isObject(git) && git['connection'] !== undefined;
  const repository = isObject(git) && !isInSpec ? git : {};
  return {
    ...nothing,
    version: semver.inc(version, 'minor') ?? '',
    spec: JSON.stringify(inOrder({ ...others, executor: isInSpec ? { ...rest, git } : rest }), null, 2),
    ...(isObject(tool) && {
      'spec.tool.name': String(tool['name'] ?? ''),
      'spec.tool.version': String(tool['version'] ?? ''),
    }),
    source: isInSpec ? 'spec' : git === undefined ? (files === undefined ? 'spec' : 'keep') : 'git',
    base: version,
    git_url: String(repository['url'] ?? ''),
    git_ref: String(repository['ref'] ?? ''),
    git_path: String(repository['path'] ?? ''),
  };
}
