import type { JsonValue } from '#domain/shared/values/json.ts';
import type { Attempt, AttemptSuccess } from '../../attempt/attempt.ts';
import { isObject } from '../../shared/json.ts';
import { resultLimits } from '../../shared/result-limits.ts';
import type { Initialization } from '../initialization/init-cache.ts';
import type { ToolSession } from '../session.ts';
import { readTofuOutputs } from '../state/outputs.ts';

/**
 * Reads the outputs and the number of resources from the latest state.
 * @param declared the outputs that the configuration declares, by name
 */
export async function readOutputs(
  session: ToolSession,
  initialized: Initialization,
  declared: JsonValue,
): Promise<AttemptSuccess> {
  const names = isObject(declared) ? Object.keys(declared) : [];
  const read = await readTofuOutputs(session.attempt, () => askOutputs(session, initialized), names);
  return withNull(read, session.attempt, declared);
}

/** Adds declared outputs that are null. The tools leave them out of the state, but here they are values that other nodes may use. */
function withNull(success: AttemptSuccess, { request }: Attempt, declared: JsonValue): AttemptSuccess {
  if (request.operation === 'destroy' || !isObject(declared)) return success;
  const empty = Object.entries(declared).map(([name, output]) => {
    const isSecret = isObject(output) && output['sensitive'] === true;
    return [name, { value: null, sensitive: isSecret || request.outputs[name]?.sensitive === true }] as const;
  });
  return { ...success, outputs: { ...Object.fromEntries(empty), ...success.outputs } };
}

/** Asks the tool for the outputs, because only it can read a state that the template encrypts. */
async function askOutputs(session: ToolSession, initialized: Initialization): Promise<Buffer> {
  const { captured } = await session.call({
    subcommand: 'output',
    options: (paths) => ['-json', '-no-color', ...session.earlyEvaluationOptions(paths)],
    reason: 'outputs_invalid',
    captureBytes: resultLimits.planJsonBytes,
    initialized,
    network: { state: true, egress: true },
  });
  return captured;
}
