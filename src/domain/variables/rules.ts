import { Invalid } from '#domain/shared/errors.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { type NewVariable, type VariableCategory, variablePhases } from './model.ts';
import { explainVariableName } from './names.ts';
import { refuseUnusablePlanValue } from './plan-value-rules.ts';
import { findMalformedReference } from './reference-syntax.ts';
import type { ShownVariable } from './store.ts';

/** Operating systems accept no longer text in a process's environment. */
const maxTextLength = 64 * 1024;
const maxValueLength = 256 * 1024;

/**
 * @param place where the variable is in the request: ``, or `variables[2].`
 * @throws Invalid for a name, a value or phases that a variable of this category cannot have, or if there is no value to keep
 */
export function refuseUnusable(variable: NewVariable, before: ShownVariable | undefined, place = ''): void {
  const { name, value, category, phases } = variable;
  const wrong = explainVariableName(category, name);
  if (wrong) throw new Invalid(`${place}name: ${wrong}`);
  if (category === 'template' && phases && phases.length < variablePhases.length) {
    throw new Invalid(
      `${place}phases: a variable of the template is part of what is planned, so it is given in both phases`,
    );
  }
  if (value === null && before?.sensitive) throw new Invalid(`${place}value: ${howToKeep(name)}`);
  if (value === undefined) refuseNothingToKeep(variable, before, place);
  else refuseUnusableValue(category, value, `${place}value`);
  refuseUnusablePlanValue(variable, before, place);
  if (variable.planValue !== undefined && variable.planValue !== null)
    refuseUnusableValue(category, variable.planValue, `${place}plan_value`);
}

/** A client that sends back null without `sensitive` may not know that null stands for a secret. */
function howToKeep(name: string): string {
  return `null stands for the secret of "${name}", which is not shown: send "sensitive": true to keep it, or another value`;
}

function refuseUnusableValue(category: VariableCategory, value: JsonValue, place: string): void {
  if (category === 'env' && typeof value !== 'string') {
    throw new Invalid(`${place}: expected a string, as environment variables are text`);
  }
  const malformed = category === 'template' ? findMalformedReference(value) : undefined;
  if (malformed) throw new Invalid(`${place}${malformed.pointer} ${malformed.problem}`);
  const max = category === 'env' ? maxTextLength : maxValueLength;
  if (Buffer.byteLength(JSON.stringify(value)) > max) {
    throw new Invalid(`${place}: must have at most ${max / 1024} KiB`);
  }
}

function refuseNothingToKeep(variable: NewVariable, before: ShownVariable | undefined, place: string): void {
  const reason = explainNothingToKeep(variable, before);
  if (reason) throw new Invalid(`${place}value: is required: ${reason}`);
}

/** Why a variable that is sent without a value cannot keep its current value; null if it can. */
function explainNothingToKeep(
  { name, category, sensitive }: NewVariable,
  before: ShownVariable | undefined,
): string | null {
  if (!before) return `there is no variable "${name}" whose value could be kept`;
  if (!before.sensitive) return `"${name}" is not sensitive, and only a sensitive variable keeps its value`;
  if (!sensitive) return `"${name}" is sensitive: say \`"sensitive": true\` to keep its value`;
  if (before.category === category) return null;
  return `"${name}" keeps its value only in its category, which is ${before.category}, and not ${category}`;
}
