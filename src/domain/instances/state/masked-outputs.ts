import type { MaskedOutput, MaskedOutputs } from '#domain/shared/values/masked.ts';

/**
 * Masks a secret output. The paths of parts that could not be stored are removed too, because they would reveal something about the secret.
 */
function maskOutput({ sensitive, unrepresentable = [] }: MaskedOutput): MaskedOutput {
  const missing = unrepresentable.slice(0, 1).map((each) => ({ ...each, path: '' }));
  return { value: null, sensitive, ...(missing.length > 0 && { unrepresentable: missing }) };
}

/** Outputs as the API shows them: the values of secret ones are masked. */
export function maskOutputs(outputs: MaskedOutputs): MaskedOutputs {
  return Object.fromEntries(
    Object.entries(outputs).map(([name, output]) => [name, output.sensitive ? maskOutput(output) : output]),
  );
}
