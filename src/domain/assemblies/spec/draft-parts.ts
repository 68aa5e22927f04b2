import type { TemplateSpec } from '#domain/registry/spec.ts';
import type { VariableError } from '#domain/registry/variables/errors.ts';
import type { ValidationResult, VariableValues } from '#domain/registry/variables/variables.ts';
import type { JsonValue } from '#domain/shared/values/json.ts';
import type { ConditionReport } from './conditions/satisfiability.ts';
import type { DraftNodes } from './draft-nodes.ts';
import type { Problem } from './problems.ts';

/** The inputs and the results of the checks of a spec. */

export interface FoundTemplate {
  readonly templateId: string;
  readonly versionId: string;
  /** The exact version. */
  readonly version: string;
  readonly spec: TemplateSpec;
  readonly isArchived: boolean;
}

export interface MissingTemplate {
  readonly missing: 'template' | 'version';
}

/** The templates that the team of an assembly may use. */
export interface TemplateCatalog {
  /** @param version a version, a range or `latest` */
  find(template: string, version: string): Promise<FoundTemplate | MissingTemplate>;
  /** The slugs of the available templates, to suggest one for an unknown name. */
  listSlugs(): Promise<readonly string[]>;
}

/** The costly parts of validation, which run on behalf of the author (`AssemblyEvaluator.for`). */
export interface SpecEvaluation {
  checkSchema(schema: JsonObject): Promise<VariableError[]>;
  /** A result for each input, in their order. */
  validateVariables(schema: JsonObject, inputs: readonly VariableValues[]): Promise<ValidationResult[]>;
  /** A report for each condition, in their order. */
  examineConditions(texts: readonly string[], variables: JsonValue): Promise<ConditionReport[]>;
}

type JsonObject = { [key: string]: JsonValue };

/** The readable parts of a spec, which the checks use. A draft may be invalid elsewhere. */
export interface Draft extends DraftNodes {
  /** The schema of the assembly's variables. */
  readonly variables: JsonObject;
  readonly outputs: Readonly<Record<string, JsonValue>>;
  /** By the key of the node; only those that were found. */
  readonly templates: ReadonlyMap<string, FoundTemplate>;
  /** By the key of the node; only those that have a condition. */
  readonly conditions: ReadonlyMap<string, ConditionReport>;
}

/** The results of a check. The collector stops once there are enough problems, so costly ones are found lazily. */
export interface Problems {
  readonly errors?: readonly Iterable<Problem>[];
  readonly warnings?: readonly Iterable<Problem>[];
}
