import { isDeepStrictEqual } from 'node:util';
import type { PublishedVersion } from '#domain/registry/published.ts';
import { maskVariables } from '#domain/registry/variables/variables.ts';
import { propertiesOf } from '#domain/registry/variables/walk.ts';
import type { ResetCause, ResetValue, VariableReset } from '../reset-model.ts';
import type { Deployment } from './deployment.ts';
import type { RunInputs } from './inputs.ts';

/** Longer values, in characters of their JSON, are left out here: the variables of the run and of the deployment already contain them. */
const maxValue = 2000;
const maxResets = 500;

interface Compared {
  readonly deployed: Deployment;
  /** The version of the deployment, and that of the run. */
  readonly versions: { readonly before: PublishedVersion; readonly after: PublishedVersion };
  /** Whether the request names a variable. */
  readonly isNamed: (name: string) => boolean;
  /** The inputs that the run copies from the deployment; null: none. */
  readonly inherited: Deployment | null;
  /** The inputs of the run, defaults included. */
  readonly inputs: RunInputs;
}

/** The variables that a run resets because its request does not name them, secrets of the environment that were rotated included. */
export function findResets({ deployed, versions, isNamed, inherited, inputs }: Compared): VariableReset[] {
  const declared = propertiesOf(versions.after.spec.variables);
  const before = maskedOf(versions.before, deployed.inputs);
  const after = maskedOf(versions.after, inputs);
  const resets = Object.keys(deployed.inputs.variables).flatMap((variable): VariableReset[] => {
    const isKept = inherited !== null && Object.hasOwn(inherited.inputs.variables, variable);
    const isDeclared = Object.hasOwn(declared, variable);
    if (isNamed(variable) || (isKept && isDeclared)) return [];
    const old = before(variable);
    const cause = isDeclared ? causeOf(inputs, variable) : 'not_declared';
    const hasValue = isDeclared && Object.hasOwn(inputs.variables, variable);
    if (!hasValue) return [{ variable, cause, before: old, after: null }];
    const now = after(variable);
    const isSecret = 'sensitive' in old || 'sensitive' in now;
    if (isDeepStrictEqual(deployed.inputs.variables[variable], inputs.variables[variable])) return [];
    return [
      isSecret ? { variable, cause, before: secret, after: secret } : { variable, cause, before: old, after: now },
    ];
  });
  return resets.slice(0, maxResets);
}

const secret = { sensitive: true } as const;

function causeOf(inputs: RunInputs, variable: string): ResetCause {
  if (!Object.hasOwn(inputs.variables, variable)) return 'not_set';
  return isGivenByEnvironment(inputs, variable) ? 'environment' : 'default';
}

function isGivenByEnvironment({ sources = {} }: RunInputs, variable: string): boolean {
  return Object.hasOwn(sources, variable);
}

function maskedOf({ spec }: PublishedVersion, { variables, sensitive }: RunInputs) {
  const masked = maskVariables(spec.variables, variables, sensitive);
  return (name: string): ResetValue => {
    if (masked[name] !== variables[name]) return secret;
    const value = variables[name] ?? null;
    return JSON.stringify(value).length > maxValue ? { truncated: true } : { value };
  };
}
