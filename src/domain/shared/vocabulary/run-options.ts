/** The names of the options of a run, and which of them an environment allows. Pure. */

export const runOptionNames = ['replace', 'target', 'exclude', 'refresh', 'parallelism', 'log_level'] as const;
export type RunOptionName = (typeof runOptionNames)[number];

/** The debug log of a tool may contain secrets that are not redacted, so a production environment has to allow it explicitly. */
const usualInProduction = runOptionNames.filter((name) => name !== 'log_level');

/** The options that runs of an environment may use: those that it states, or else the default for its kind. */
export function allowedOptions(environment: {
  /** An `EnvironmentKind`. */
  readonly kind: string;
  readonly allowedOptions: readonly RunOptionName[] | null;
}): readonly RunOptionName[] {
  return environment.allowedOptions ?? (environment.kind === 'production' ? usualInProduction : runOptionNames);
}
