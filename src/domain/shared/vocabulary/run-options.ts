/** The names of the options of a run, and which of them an environment allows. Pure. */

export const runOptionNames = ['replace', 'target', 'exclude', 'refresh', 'parallelism', 'log_level'] as const;
export type RunOptionName = (typeof runOptionNames)[number];

/** In production, what the tool logs about itself may hold secrets that nobody redacts: an environment has to allow it. */
const usualInProduction = runOptionNames.filter((name) => name !== 'log_level');

/** The options that runs of an environment may use: what it states, or else what is usual for its kind. */
export function allowedOptions(environment: {
  /** An `EnvironmentKind`. */
  readonly kind: string;
  readonly allowedOptions: readonly RunOptionName[] | null;
}): readonly RunOptionName[] {
  return environment.allowedOptions ?? (environment.kind === 'production' ? usualInProduction : runOptionNames);
}
