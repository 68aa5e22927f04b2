import type { $ZodIssue } from 'zod/v4/core';
import { type FieldPath, formatPath } from '#domain/shared/validation/field-path.ts';
import { describeIssues, type FieldProblem, joinProblem } from '#domain/shared/validation/validation-messages.ts';
import { findMisleading } from '#domain/shared/values/human-name.ts';
import { isPluginSchema, isSystemSchema, type Manifest } from '../model.ts';

/**
 * The problems of a manifest, in the style of the service's other errors. Paths begin with the field of the body that contains the
 * manifest, since the client sends its bytes encoded.
 */

/** The problems of members that do not have the form of a manifest. */
export function describeForm(manifest: unknown, issues: readonly $ZodIssue[]): FieldProblem[] {
  const inBody = issues.map((issue) => ({ ...issue, path: [field, ...issue.path] }));
  return describeIssues({ part: 'body', data: { [field]: manifest }, known: [] }, inBody);
}

/** The contradictions within a manifest of the right form. */
export function findContradictions({ actions, executions, resources }: Manifest): FieldProblem[] {
  const names = new Set(actions.map(({ name }) => name));
  const stray = executions.flatMap(({ action }, at) =>
    names.has(action)
      ? []
      : [problemAt(['executions', at, 'action'], `names "${action}", which is not declared: ${declared}`)],
  );
  return [
    ...findRepeated(
      ['actions'],
      actions.map(({ name }) => name),
      'name',
    ),
    ...findRepeated(
      ['executions'],
      executions.map(({ name }) => name),
      'name',
    ),
    ...findRepeated(
      ['resources'],
      resources.map(({ type }) => type),
      'type',
    ),
    ...stray,
  ];
}

const declared = 'expected the name of an action of the manifest';

/** The parts of a manifest that would mislead its readers. Manifests that were staged before these rules can still be read. */
export function findTricks({ name, actions, resources }: Manifest): FieldProblem[] {
  const misleading = findMisleading(name);
  return [
    ...(misleading === null ? [] : [problemAt(['name'], misleading)]),
    ...actions.flatMap(({ selectors, effects }, at) => [
      ...findRepeated(['actions', at, 'selectors'], selectors),
      ...findRepeated(['actions', at, 'effects'], effects),
    ]),
    ...resources.flatMap(({ roots }, at) => [
      ...findRepeatedRoots(['resources', at, 'roots'], roots),
      ...roots.flatMap(({ schema }, index) => findForeignSchema(['resources', at, 'roots', index, 'schema'], schema)),
    ]),
  ];
}

/** The problem of a manifest that declares another release than the request names. */
export function findOtherRelease(manifest: Manifest, release: string): FieldProblem[] {
  if (manifest.release === release) return [];
  return [problemAt(['release'], `declares the release ${manifest.release}: expected ${release}, as the request says`)];
}

const field = 'manifest';

function problemAt(path: FieldPath, message: string): FieldProblem {
  const whole = formatPath([field, ...path]);
  return { in: 'body', path: whole, message: joinProblem(`field "${whole}"`, message) };
}

/**
 * The problems of names that occur earlier in the list. @param member the member of an item that contains its name; undefined: the items
 * are names
 */
function findRepeated(path: FieldPath, names: readonly string[], member?: string): FieldProblem[] {
  return names.flatMap((name, at) => {
    if (names.indexOf(name) === at) return [];
    const whole = [...path, at, ...(member === undefined ? [] : [member])];
    return [problemAt(whole, `names "${name}" twice: expected each ${member ?? 'item'} once`)];
  });
}

function findRepeatedRoots(path: FieldPath, roots: Manifest['resources'][number]['roots']): FieldProblem[] {
  const texts = roots.map(({ schema, table, key }) => JSON.stringify([schema, table, key]));
  return texts.flatMap((text, at) =>
    texts.indexOf(text) === at ? [] : [problemAt([...path, at], 'names a root twice: expected each root once')],
  );
}

/** The problem of a schema that no setting can allow. The settings for other schemas may change, so these are checked by a restoration. */
function findForeignSchema(path: FieldPath, schema: string): FieldProblem[] {
  if (isPluginSchema(schema)) return [];
  const whose = isSystemSchema(schema) ? 'a schema of PostgreSQL itself' : 'the schema of the service itself';
  const expected =
    'expected a schema that the plugin has for itself. When a resource is restored, COORDINATOR_PLUGIN_SCHEMAS has to name it';
  return [problemAt(path, `names ${schema}, ${whose}, where no restoration ever looks: ${expected}`)];
}
