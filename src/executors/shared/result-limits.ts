const mebibyte = 1024 * 1024;

/** The maximum sizes of an attempt's results. The table in docs/operating.md lists each of them. */
export const resultLimits = {
  /** A plan file of OpenTofu or Terraform. */
  planFileBytes: 256 * mebibyte,
  /** The plan as JSON, for reviewers. */
  planJsonBytes: 128 * mebibyte,
  /** A state of OpenTofu or Terraform. */
  stateBytes: 128 * mebibyte,
  /** `plan.json` of steps. */
  commandPlanBytes: 16 * mebibyte,
  commandChanges: 20_000,
  addressLength: 4_096,
  /** The directory `plan` of steps, with `plan.json`. */
  planDirectoryBytes: 64 * mebibyte,
  planDirectoryFiles: 1_000,
  /** `outputs.json` of steps. */
  outputsBytes: 4 * mebibyte,
  /** `state.json` of steps. */
  commandStateBytes: 64 * mebibyte,
  /** A value in the environment of steps. A longer one is only in their variables file. */
  environmentValueLength: 64 * 1024,
} as const;
