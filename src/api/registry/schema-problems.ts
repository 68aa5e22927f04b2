import type { VariableError } from '#domain/registry/variables/errors.ts';
import { describeIssues, invalidRequest } from '#domain/shared/validation/validation-messages.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import { splitPointer } from '#domain/shared/values/json-pointer.ts';

/** Refuses an invalid schema in a spec, in the same way as any other invalid field. @throws Invalid with every problem */
export function refuseSchemaProblems(variables: JsonValue, problems: readonly VariableError[]): void {
  if (problems.length === 0) return;
  const rejected = { part: 'body', data: { spec: { variables } }, known: [] } as const;
  const issues = problems.map(({ path, message }) => ({
    code: 'custom' as const,
    path: ['spec', 'variables', ...splitPointer(path)],
    message,
    input: variables,
  }));
  throw invalidRequest(describeIssues(rejected, issues));
}
