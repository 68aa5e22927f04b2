import type { PublishedVersion } from '#domain/registry/published.ts';
import { propertiesOf } from '#domain/registry/variables/walk.ts';
import { invalidField, Unprocessable } from '#domain/shared/errors.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { escapePointer } from '#domain/shared/values/json-pointer.ts';
import type { RunInputs } from './inputs.ts';
import type { RunRequest } from './run-request.ts';
import { describeProblems } from './taken-over.ts';

/** The variables that a run does not take over from what it starts from: a deployment or an earlier run. */

/** @throws Invalid for a variable that the request both omits and sets */
export function refuseOmittedAndGiven(omit: readonly string[], given: Readonly<Record<string, JsonValue>>): void {
  const name = omit.find((each) => Object.hasOwn(given, each));
  if (name === undefined) return;
  throw invalidField('omit', `the request gives the variable ${JSON.stringify(name)}: name it in variables or in omit`);
}

/**
 * Refuses names that can only be mistakes, unless the request accepts them. A variable that the version declares is never a mistake, even
 * if the source does not have it: whether it does depends on earlier runs, such as the run that the same request started.
 * @param absent the names to omit that the source, or the deployment that a destroy removes, does not have
 * @throws Unprocessable `variables_invalid` with each name
 */
export function refuseUnknownOmitted(
  { spec, version }: PublishedVersion,
  { source, acceptsUnknownOmit = false }: RunRequest,
  absent: readonly string[],
): void {
  if (acceptsUnknownOmit) return;
  const declared = propertiesOf(spec.variables);
  const unknown = absent.filter((name) => !Object.hasOwn(declared, name));
  if (unknown.length === 0) return;
  const errors = unknown.map((name) => ({
    path: `/${escapePointer(name)}`,
    message: `is named in omit, but neither ${source && !source.deployed ? 'the run' : 'the deployment'} nor version ${version} has such a variable`,
  }));
  throw new Unprocessable(describeProblems(errors), { code: 'variables_invalid', details: { errors } });
}

/**
 * Splits the names to omit into those that the inputs have (`omitted`) and those that they do not have (`omittedAbsent`), and returns the
 * inputs without them.
 */
export function omitNames(inputs: RunInputs, names: readonly string[]) {
  const isLeft = ([name]: readonly [string, unknown]) => !names.includes(name);
  return {
    omitted: names.filter((name) => Object.hasOwn(inputs.variables, name)),
    omittedAbsent: names.filter((name) => !Object.hasOwn(inputs.variables, name)),
    inputs: {
      ...inputs,
      variables: Object.fromEntries(Object.entries(inputs.variables).filter(isLeft)),
      sources: Object.fromEntries(Object.entries(inputs.sources ?? {}).filter(isLeft)),
      reads: (inputs.reads ?? []).filter(({ variable }) => !names.includes(variable)),
    },
  };
}
