import type { Ownership } from '#domain/shared/access/decide.ts';
import type { Action } from '#domain/shared/actions.ts';
import { Forbidden, invalidField } from '#domain/shared/errors.ts';
import { isId } from '#domain/shared/ids.ts';
import { explainUrl } from '#domain/shared/outbound/outbound.ts';
import type { Visit } from '../visit/visit.ts';
import type { FormField } from './fields/form-field.ts';
import type { Typed } from './form-page.ts';
import { revisionName } from './read-form.ts';

/** The revision that a form was opened for. `visit.run` sends it, and the operation refuses to overwrite what has changed since then. */
export function revisionField({ revision }: { readonly revision: number }): FormField {
  return { name: revisionName, label: 'Revision', kind: 'hidden', value: String(revision) };
}

/** Builds the body of an operation from what was typed, without empty fields. */
export function toBody({
  expected_revision: _revision,
  opened_with: _opened,
  ...typed
}: Typed): Record<string, string> {
  return Object.fromEntries(Object.entries(typed).filter(([, value]) => value !== ''));
}

/** Why an action is not possible now; null if it is possible, or if the thing does not list it. */
export function refusalOf(actions: readonly Action[], name: string): string | null {
  return actions.find((action) => action.name === name)?.reason ?? null;
}

/** Refuses a visitor without the authority before the form looks up the names that they typed. @throws Forbidden */
export function requireAuthority(
  visit: Visit<unknown>,
  operation: Parameters<Visit['mayDo']>[0],
  ...targets: readonly (Ownership | undefined)[]
): void {
  const { allowed, reason } = visit.mayDo(operation, ...targets);
  if (!allowed) throw new Forbidden(reason ?? undefined);
}

/** Before a tenant or a state is deleted, people type its name. */
export function typedNameField(name: string): FormField {
  return { name: 'confirmation', label: `Type ${name} to confirm`, isUnkept: true };
}

/** @throws Invalid if something else was typed */
export function requireTypedName({ confirmation }: Typed, name: string): void {
  if (confirmation?.trim() !== name.trim()) throw invalidField('confirmation', `is another name: type ${name} exactly`);
}

/**
 * Reads the id that was chosen in a field. If none was, returns null and adds a problem to the visit. @param bodyPaths as for `addProblem`
 */
export function readChosenId(visit: Visit, field: string, typed = '', ...bodyPaths: string[]): string | null {
  const id = typed.trim();
  if (isId(id)) return id;
  visit.addMissing(field, 'choose one', ...bodyPaths);
  return null;
}

/**
 * Checks the syntax of a URL, and adds its problem to the visit, so that the form shows it together with the problems of other fields. Only
 * the operation looks up the host. The schema refuses an empty URL.
 */
export function addUrlProblem(visit: Visit<unknown>, field: string, url: string | undefined): void {
  const problem = url ? explainUrl(url) : null;
  if (problem !== null) visit.addProblem(field, problem);
}
