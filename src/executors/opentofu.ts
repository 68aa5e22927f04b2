import { join } from 'node:path';
import type { ExecutionReason } from '#domain/runs/model.ts';
import { canonicalJson } from '#domain/shared/canonical.ts';
import { packArtifact, unpackArtifact } from './artifact.ts';
import type { Attempt, Performed } from './attempt.ts';
import { AttemptFailure } from './attempt-error.ts';
import type { Exit } from './child-process.ts';
import type { Environment } from './environment.ts';
import {
  collectPlan,
  digestSources,
  isSelfContained,
  layOutConfiguration,
  type PlanPlaces,
  restorePlan,
  rootModule,
  verifyBackend,
} from './opentofu-files.ts';
import { readPlan, summarize } from './opentofu-plan.ts';
import { readTofuOutputs } from './outputs.ts';
import type { OpenTofuExecutor, Tool } from './protocol.ts';
import { StateBackend } from './state-backend.ts';
import { writePrivate } from './work-files.ts';

const largestPlanJson = 256 * 1024 * 1024;
const littleState = 1024 * 1024;

/** One attempt with the tool, its configuration and its backend at hand. */
interface Session extends PlanPlaces {
  readonly attempt: Attempt;
  readonly executor: OpenTofuExecutor;
  readonly tool: Tool;
  readonly toolPath: string;
  readonly environment: Environment;
}

/** Carries out a phase with OpenTofu, or Terraform. @throws AttemptFailure saying why it went wrong */
export async function runOpenTofu(attempt: Attempt, executor: OpenTofuExecutor): Promise<Performed> {
  attempt.state.openDocument();
  const isApply = attempt.request.phase === 'apply';
  const backend = new StateBackend(attempt.state, { isReadOnly: !isApply });
  try {
    const session = await openSession(attempt, executor, await backend.listen());
    const performed = await (isApply ? apply(session) : plan(session));
    return { ...performed, tool: session.tool };
  } finally {
    backend.close();
  }
}

async function openSession(attempt: Attempt, executor: OpenTofuExecutor, backend: Environment): Promise<Session> {
  const { request, places } = attempt;
  if (request.tool === null || request.toolPath === null) {
    throw new AttemptFailure('tool_unavailable', 'neither OpenTofu nor Terraform was found');
  }
  const settings = join(places.service, 'cli.tfrc');
  const variablesFile = join(places.service, 'variables.tfvars.json');
  await layOutConfiguration(places.work, executor);
  await writePrivate(settings, '');
  if (request.phase !== 'apply') await writePrivate(variablesFile, JSON.stringify(request.variables));
  return {
    ...{ attempt, executor, variablesFile, tool: request.tool, toolPath: request.toolPath },
    module: rootModule(places.work, executor),
    planFile: join(places.service, 'plan'),
    environment: {
      ...attempt.environment,
      ...backend,
      TF_CLI_CONFIG_FILE: settings,
      TF_IN_AUTOMATION: '1',
      TF_INPUT: '0',
      CHECKPOINT_DISABLE: '1',
    },
  };
}

async function plan(opened: Session): Promise<Performed> {
  const { attempt, executor, tool } = opened;
  const session = await initialize(opened);
  const exit = await runTool(session, 'plan', planArguments(session), 'plan_failed', [0, 2]);
  const showing = ['-json', '-no-color', ...earlyVariables(session), session.planFile];
  const shown = await runTool(session, 'show', showing, 'plan_invalid', [0], largestPlanJson);
  if (shown.isTruncated) throw new AttemptFailure('plan_invalid', `the plan has more than ${largestPlanJson} bytes`);
  const { changes, drift, summary } = readPlan(shown.captured, attempt.redactor);
  const { operation, phase } = attempt.request;
  const facts = { kind: 'opentofu' as const, tool, operation, sources: digestSources(executor), changes, drift };
  const files = await collectPlan(session);
  const packed = packArtifact(facts, files);
  const isRefresh = operation === 'refresh';
  return {
    plan: {
      ...{ changes: isRefresh ? drift : changes, drift, summary: isRefresh ? summarize(drift) : summary },
      hasChanges: exit.code === 2,
      assumed: false,
      digest: packed.digest,
      artifact: phase === 'detect' ? Buffer.alloc(0) : packed.artifact,
    },
  };
}

function planArguments({ attempt, planFile, variablesFile }: Session): string[] {
  const { operation, replace } = attempt.request;
  const modes: Partial<Record<typeof operation, string[]>> = { destroy: ['-destroy'], refresh: ['-refresh-only'] };
  return [
    ...['-input=false', '-no-color', '-lock=false', '-detailed-exitcode'],
    ...[`-out=${planFile}`, `-var-file=${variablesFile}`],
    ...(modes[operation] ?? []),
    ...replace.map((address) => `-replace=${address}`),
  ];
}

async function apply(session: Session): Promise<Performed> {
  const { attempt, executor } = session;
  if (attempt.artifact === null) throw new AttemptFailure('artifact_missing', 'there is no plan to apply');
  const { facts, files } = unpackArtifact(attempt.artifact, attempt.request.planDigest ?? null);
  const wanted = {
    kind: 'opentofu',
    tool: session.tool,
    operation: attempt.request.operation,
    sources: digestSources(executor),
  };
  const { kind, tool, operation, sources } = facts;
  if (canonicalJson(wanted) !== canonicalJson({ kind, tool, operation, sources })) {
    throw new AttemptFailure(
      'artifact_mismatch',
      'the plan was made by another tool, for another operation or of other files',
    );
  }
  if (!(await restorePlan(session, files))) await initialize(session, ['-lockfile=readonly']);
  const options = ['-input=false', '-no-color', '-lock-timeout=30s', ...earlyVariables(session), session.planFile];
  await runTool(session, 'apply', options, 'apply_failed');
  const ask = ['-json', '-no-color', ...earlyVariables(session)];
  return readTofuOutputs(attempt, () => runTool(session, 'output', ask, 'outputs_invalid', [0], largestPlanJson));
}

/** Answers the session in which to plan. */
async function initialize(session: Session, options: readonly string[] = []): Promise<Session> {
  const all = ['-input=false', '-no-color', ...earlyVariables(session), ...options];
  await runTool(unhurried(session), 'init', all, 'init_failed');
  await verifyBackend(session.module);
  return (await isSelfContained(session.module)) ? unhurried(session) : session;
}

/**
 * The tool is told to collect its garbage less often, which takes a quarter of its time where it has little to do: five
 * times of little memory is little too. Not so where it starts other programs, which inherit that and may be big: providers,
 * and when it applies, whatever the template wants.
 */
function unhurried(session: Session): Session {
  const { content } = session.attempt.state;
  if ((content?.length ?? 0) > littleState) return session;
  return { ...session, environment: { GOGC: '400', ...session.environment } };
}

/** OpenTofu lets variables choose modules, keys and more, so every subcommand wants them; Terraform only when planning. */
function earlyVariables({ tool, variablesFile }: Session): string[] {
  return tool.name === 'opentofu' ? [`-var-file=${variablesFile}`] : [];
}

async function runTool(
  session: Session,
  subcommand: string,
  options: readonly string[],
  reason: ExecutionReason,
  expected: readonly number[] = [0],
  captureBytes?: number,
): Promise<Exit> {
  const { attempt, tool, toolPath, module, environment } = session;
  attempt.progress(subcommand);
  const exit = await attempt.run({
    program: toolPath,
    name: tool.name === 'opentofu' ? 'tofu' : 'terraform',
    arguments: [subcommand, ...options],
    directory: module,
    environment,
    ...(captureBytes !== undefined && { captureBytes }),
  });
  if (expected.includes(exit.code)) return exit;
  throw new AttemptFailure(
    reason,
    `${tool.name} ${subcommand} ended with exit code ${exit.code}${firstError(attempt.lastErrors())}`,
  );
}

/** What the tool itself said first of what is wrong. */
function firstError(text: string): string {
  const found = /^[│ ]*Error: (.+)$/m.exec(text);
  return found ? `: ${found[1]}` : '';
}
