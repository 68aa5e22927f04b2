import { VariableEvaluator } from '#domain/registry/evaluation/variable-evaluator.ts';
import { maskVariables, secretNames } from '#domain/registry/variables/variables.ts';
import type { Transaction } from '#domain/shared/commands/transaction.ts';
import { Unprocessable } from '#domain/shared/errors.ts';
import type { Evaluator } from '#domain/shared/evaluation/evaluator.ts';
import type { KeyRing } from '#domain/shared/secrets.ts';
import type { LimitSubject } from '#domain/shared/tasks/limit-subject.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { Masked } from '#domain/shared/values/masked.ts';
import type { AssemblyRun } from '../../entity.ts';
import { variablesContext } from '../../sealed.ts';
import { locateInstanceReferences } from '../../spec/references.ts';
import type { AssemblySpec } from '../../spec/spec.ts';

/** The variables of an assembly run, secrets included. They are sealed in its row. */
export interface AssemblyVariables {
  readonly values: Record<string, JsonValue>;
  /** Names of the variables that are secret. */
  readonly sensitive: string[];
}

export function sealVariables(keyRing: KeyRing, runId: string, variables: AssemblyVariables): Buffer {
  return keyRing.sealJson(variablesContext(runId), variables);
}

export function openVariables(keyRing: KeyRing, run: Pick<AssemblyRun, 'id' | 'sealedVariables'>): AssemblyVariables {
  return keyRing.openJson<AssemblyVariables>(variablesContext(run.id), run.sealedVariables);
}

/**
 * Checks the variables of a request against the assembly's schema and fills in its defaults.
 * @throws Unprocessable naming everything that is wrong, or a reference to an output of an instance: only nodes may contain those, and
 * resolve them when they begin
 */
export async function checkVariables(
  tx: Transaction,
  evaluator: Evaluator,
  { variables: schema }: AssemblySpec,
  requested: Record<string, JsonValue>,
  { subject, versionId }: { subject: LimitSubject; versionId: string },
): Promise<AssemblyVariables & { shown: Record<string, JsonValue | Masked> }> {
  refuseInstanceReferences(requested);
  const { valid, errors, variables } = await tx.awaitOutside(JSON.stringify([versionId, requested]), () =>
    new VariableEvaluator(evaluator, subject).validate(schema, requested),
  );
  if (!valid) {
    const described = errors.map(({ path, message }) => `${path || '/'} ${message}`).join('; ');
    throw new Unprocessable(`variables: ${described}`, { code: 'variables_invalid', details: { errors } });
  }
  const sensitive = [...secretNames(schema)];
  return { values: variables, sensitive, shown: maskVariables(schema, variables, sensitive) };
}

function refuseInstanceReferences(requested: Record<string, JsonValue>): void {
  const errors = locateInstanceReferences(requested).map(({ path }) => ({
    path,
    message: 'refers to an output of another instance: write the reference into a variable of a node',
  }));
  if (errors.length === 0) return;
  const described = errors.map(({ path, message }) => `${path} ${message}`).join('; ');
  throw new Unprocessable(`variables: ${described}`, { code: 'reference_unresolved', details: { errors } });
}
