import type { ExecutionResult, OpenTofuExecutor, Tool } from '#executors/protocol/request.ts';
import { makeRequest, type Ran, type RecordingSink, run, type TestRequest } from '../support.ts';

/** A configuration with a variable, a secret, two resources that depend on them, and outputs. */
export const main = `
variable "size" { type = number }
variable "token" {
  type      = string
  sensitive = true
  default   = "none-at-all"
}
resource "terraform_data" "network" { input = var.size }
resource "terraform_data" "machine" {
  input            = { token = var.token, size = var.size }
  triggers_replace = [var.size]
}
output "size" { value = terraform_data.network.output }
output "token" {
  value     = terraform_data.machine.output.token
  sensitive = true
}
`;
export const executor: OpenTofuExecutor = { kind: 'opentofu', files: { 'main.tf': main } };

export type Planned = Required<Pick<ExecutionResult, 'plan'>> & Ran;

/** Plans and applies with one tool, by default the configuration above. */
export function useTool(workRoot: string, tool: Tool) {
  const request = (changes: Partial<TestRequest>) =>
    makeRequest({ executor, workRoot, variables: { size: 3 }, tool, ...changes });
  const plan = async (changes: Partial<TestRequest> = {}): Promise<Planned> => {
    const ran = await run(request({ phase: 'plan', ...changes }));
    if (!ran.result.plan) throw new Error(`no plan: ${JSON.stringify(ran.result)}\n${ran.sink.text()}`);
    return { ...ran, plan: ran.result.plan };
  };
  const apply = ({ artifact, digest }: { artifact: Buffer; digest: string }, changes: Partial<TestRequest> = {}) =>
    run(request({ artifact, planDigest: digest, ...changes }));
  const deploy = async (changes: Partial<TestRequest> = {}) => {
    const ran = await apply((await plan(changes)).plan, changes);
    if (ran.result.outcome !== 'succeeded') throw new Error(`not applied: ${JSON.stringify(ran.result)}`);
    return { result: ran.result, state: ran.sink.states.at(-1)?.content ?? null };
  };
  return { request, plan, apply, deploy };
}

const outputOfCommands = /^Initializing (?:the backend|modules)|^Plan: \d|^No changes\.|^Apply complete!/gm;

/** Returns the tool's subcommands that printed to the log, in order. The output of `show` is not logged. */
export function loggedCommands(sink: RecordingSink): string[] {
  const commands = [...sink.text('stdout').matchAll(outputOfCommands)].map(([text]) =>
    text.startsWith('Init') ? 'init' : text.startsWith('Apply') ? 'apply' : 'plan',
  );
  return commands.filter((command, index) => command !== commands[index - 1]);
}
