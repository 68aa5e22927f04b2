import { Invalid } from '#domain/shared/errors.ts';
import { type NewVariable, type VariablePhase, variablePhases } from './model.ts';
import type { ShownVariable } from './store.ts';

/**
 * Refuses a variable whose value for planning breaks a rule.
 * @param place where the variable is in the request: ``, or `variables[2].`
 * @throws Invalid
 */
export function refuseUnusablePlanValue(variable: NewVariable, before: ShownVariable | undefined, place: string): void {
  refuseSecondTemplateValue(variable, place);
  refuseUnsaid(variable, before, place);
  const { planValue, hasPlanValue, phases = before?.phases ?? variablePhases } = variable;
  const willHave = planValue === undefined ? keepsPlanValue(variable, before) : planValue !== null;
  if (hasPlanValue === true && !willHave)
    throw new Invalid(`${place}has_plan_value: there is no value for planning: send a plan_value as well`);
  refuseSameSecret(variable, place);
  if (willHave && phases.length < variablePhases.length)
    throw new Invalid(
      `${place}phases: a variable with a plan_value is given in both phases, in "plan" by its plan_value`,
    );
}

/**
 * Refuses the same secret for planning and applying, because planning would then get the secret. It compares only values that are sent
 * together: with a stored secret, a refusal would reveal whether the sent value equals it.
 */
function refuseSameSecret({ sensitive, value, planValue }: NewVariable, place: string): void {
  if (!sensitive || planValue === undefined || planValue === null || planValue !== value) return;
  throw new Invalid(
    `${place}plan_value: is the same secret as value: send another one, or null so that planning gets it`,
  );
}

/** Whether planning gets the secret that applying gets. */
export function planGetsSecret({
  sensitive,
  phases = variablePhases,
  hasPlanValue,
}: {
  readonly sensitive: boolean;
  readonly phases?: readonly VariablePhase[] | undefined;
  readonly hasPlanValue: boolean;
}): boolean {
  return sensitive && !hasPlanValue && phases.length === variablePhases.length;
}

/** Whether a variable keeps a value for planning if the change does not mention it. */
export function keepsPlanValue({ category }: NewVariable, before: ShownVariable | undefined): boolean {
  return category === 'env' && before?.hasPlanValue === true;
}

function refuseSecondTemplateValue({ category, planValue = null, hasPlanValue }: NewVariable, place: string): void {
  if (category === 'env' || (planValue === null && hasPlanValue !== true)) return;
  throw new Invalid(`${place}plan_value: a variable of the template is part of what is planned, so it has one value`);
}

/**
 * Requires a new value for planning when `sensitive` changes. Otherwise the service would show a value that was secret, or treat a value as
 * secret that it has shown already.
 */
function refuseUnsaid(variable: NewVariable, before: ShownVariable | undefined, place: string): void {
  if (variable.planValue !== undefined || before?.sensitive === variable.sensitive) return;
  if (!keepsPlanValue(variable, before)) return;
  throw new Invalid(
    `${place}plan_value: is required where \`sensitive\` changes: send another one, or "has_plan_value": false for none`,
  );
}
