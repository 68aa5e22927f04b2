import { findUnknownOption } from '#domain/runs/options/model.ts';
import type { Attempt, AttemptSuccess } from '../attempt/attempt.ts';
import type { OpenTofuExecutor } from '../protocol/request.ts';
import type { WireRequest } from '../protocol/request-schema.ts';
import { AttemptFailure } from '../shared/errors.ts';
import { isObject, parseJson } from '../shared/json.ts';
import type { InitCache } from './initialization/init-cache.ts';
import { apply } from './phases/apply.ts';
import { plan } from './phases/plan.ts';
import { StateBackend } from './state/state-backend.ts';
import { TofuState } from './state/tofu-state.ts';

/** Runs a phase with OpenTofu or Terraform. @throws AttemptFailure that says what went wrong */
export async function runOpenTofu(
  attempt: Attempt,
  executor: OpenTofuExecutor,
  cache: InitCache,
): Promise<AttemptSuccess> {
  refuseUnknownOptions(attempt.request);
  learnRemoteStates(attempt);
  const state = new TofuState(attempt.state, { redactor: attempt.redactor, declared: attempt.request.outputs });
  state.open();
  const isApply = attempt.request.phase === 'apply';
  const backend = new StateBackend(state, { isReadOnly: !isApply });
  const success = await (isApply ? apply : plan)(attempt, executor, backend, cache);
  const { tool } = attempt.request;
  return { ...success, ...(tool && { tool }) };
}

/** Redacts the secrets among the outputs of other instances, before any program sees them. */
function learnRemoteStates({ request, redactor }: Attempt): void {
  for (const content of Object.values(request.remoteStates ?? {})) {
    const state = parseJson(Buffer.from(content));
    const outputs = isObject(state) ? state['outputs'] : undefined;
    for (const output of isObject(outputs) ? Object.values(outputs) : [])
      if (isObject(output) && output['sensitive'] === true) redactor.learn(output['value'] ?? null);
  }
}

/** Refuses unknown options, because the tool would report them as an error of the command line, with its complete help. */
function refuseUnknownOptions({ tool, options }: WireRequest): void {
  const problem = tool && options ? findUnknownOption(options, tool) : null;
  if (problem !== null) throw new AttemptFailure('operation_unsupported', problem);
}
