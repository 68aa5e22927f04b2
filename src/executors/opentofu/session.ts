import { join } from 'node:path';
import type { ExecutionReason } from '#domain/runs/model.ts';
import type { Attempt, JobResult, JobSpec, Results } from '../attempt/attempt.ts';
import { AttemptFailure } from '../attempt/attempt-error.ts';
import type { Environment } from '../attempt/environment.ts';
import type { OpenTofuExecutor, Tool } from '../protocol/request.ts';
import { inside, type Mount } from '../sandbox/bubblewrap.ts';
import type { Places } from '../sandbox/places.ts';
import { cliSettings, dataDirectory, layOutConfiguration, lockFile } from './files.ts';
import type { Initialization } from './initializations.ts';
import type { StateBackend } from './state-backend.ts';

/** Beside the work directory: what the service writes for the tool. */
const settingsFile = 'cli.tfrc';
const variablesFile = 'variables.tfvars.json';
export const planInput = 'plan';
const planOutput = 'coordinator.plan';

const littleState = 1024 * 1024;
/** Of the attempt's memory: beyond it the tool collects garbage however unhurried it is. */
const mostHeap = 0.6;

/** How one call of the tool differs from the others. */
export interface ToolCall<Collected> {
  readonly subcommand: string;
  readonly options: (places: Places) => readonly string[];
  readonly reason: ExecutionReason;
  readonly expected?: readonly number[];
  readonly captureBytes?: number;
  /** What `init` made; null for `init` itself, which makes it in `data`. */
  readonly initialized: Initialization | null;
  readonly data?: string;
  readonly extraFiles?: ReadonlyMap<string, Buffer>;
  /** Whether the tool sees the template's files and variables; a plan is shown without them. */
  readonly seesTemplate?: boolean;
  /** Whether `init` is given the values of the variables. */
  readonly seesVariables?: boolean;
  readonly reaches: { readonly state: boolean; readonly egress: boolean };
  /** Collect garbage less often: where nothing but the tool itself runs, and has little to do. */
  readonly isUnhurried?: boolean;
  readonly collect?: (results: Results, places: Places) => Promise<Collected>;
}

/** One attempt with its tool, its configuration and its backend. */
export class ToolSession {
  readonly attempt: Attempt;
  readonly executor: OpenTofuExecutor;
  readonly tool: Tool;
  readonly #toolMount: Mount;
  readonly #backend: StateBackend;
  readonly #configuration: ReadonlyMap<string, Buffer>;
  readonly #variables: Buffer;
  #origin: string | null = null;

  /** @throws AttemptFailure where there is no tool, or the configuration cannot be laid out */
  constructor(attempt: Attempt, executor: OpenTofuExecutor, backend: StateBackend, variables: Buffer) {
    const { tool, toolPath } = attempt.request;
    if (tool === null || toolPath === null) {
      throw new AttemptFailure('tool_unavailable', 'neither OpenTofu nor Terraform was found');
    }
    this.attempt = attempt;
    this.executor = executor;
    this.tool = tool;
    const name = tool.name === 'opentofu' ? 'tofu' : 'terraform';
    this.#toolMount = { source: attempt.toolPath(toolPath), target: join(inside.tools, name) };
    this.#backend = backend;
    this.#configuration = layOutConfiguration(executor);
    this.#variables = variables;
  }

  /** The variables that the plan was, or is to be, made with. */
  get variables(): Buffer {
    return this.#variables;
  }

  /** OpenTofu lets variables choose modules, keys and more, so every subcommand wants them; Terraform only when planning. */
  earlyVariables(places: Places): string[] {
    return this.tool.name === 'opentofu' ? [this.variablesOption(places)] : [];
  }

  variablesOption(places: Places): string {
    return `-var-file=${join(places.input, variablesFile)}`;
  }

  /** Where a plan is written. */
  planPath(places: Places): string {
    return join(places.temporary, planOutput);
  }

  /** Runs the tool once, in a place of its own. @throws AttemptFailure with the call's reason where it fails */
  async call<Collected>(call: ToolCall<Collected>): Promise<JobResult<Collected>> {
    if (call.reaches.state || call.reaches.egress) this.#origin ??= await this.attempt.openRelay(this.#backend);
    const result = await this.attempt.runJob((places) => this.#specify(call, places));
    if ((call.expected ?? [0]).includes(result.code)) return result;
    const said = firstError(this.attempt.lastErrors());
    const message = `${this.tool.name} ${call.subcommand} ended with exit code ${result.code}${said}`;
    throw new AttemptFailure(call.reason, message);
  }

  #specify<Collected>(call: ToolCall<Collected>, places: Places): JobSpec<Collected> {
    const { directory = '' } = this.executor;
    const mirror = this.#mirrorMount();
    const { collect, captureBytes, reaches } = call;
    return {
      steps: [
        {
          title: call.subcommand,
          program: this.attempt.see(this.#toolMount),
          arguments: [call.subcommand, ...call.options(places)],
          expected: call.expected ?? [0],
        },
      ],
      files: this.#filesOf(call, mirror),
      mounts: [
        this.#toolMount,
        ...(mirror === null ? [] : [mirror]),
        ...dataMounts(call, join(places.work, directory)),
      ],
      environment: () => this.#environmentOf(call, places),
      startIn: directory,
      network: reaches,
      isBare: !reaches.state && !reaches.egress,
      ...(captureBytes !== undefined && { captureBytes }),
      ...(collect && { collect: (results: Results) => collect(results, places) }),
    };
  }

  #mirrorMount(): Mount | null {
    const { providerMirror } = this.attempt.settings;
    return providerMirror === null ? null : { source: providerMirror, target: inside.providers };
  }

  #filesOf<Collected>(call: ToolCall<Collected>, mirror: Mount | null): Map<string, Buffer> {
    const { seesTemplate = true, seesVariables = seesTemplate } = call;
    const files = new Map([...(seesTemplate ? this.#configuration : []), ...(call.extraFiles ?? [])]);
    const { settings } = this.attempt;
    files.set(settingsFile, Buffer.from(cliSettings(settings, mirror && this.attempt.see(mirror))));
    if (seesVariables) files.set(variablesFile, this.#variables);
    const lock = call.initialized?.lock ?? null;
    if (lock !== null) files.set(join('work', this.executor.directory ?? '', lockFile), lock);
    // The directory in which the tool starts is there also where the template is not.
    files.set(join('work', this.executor.directory ?? '', '/'), Buffer.alloc(0));
    return files;
  }

  #environmentOf<Collected>(call: ToolCall<Collected>, places: Places): Environment {
    const content = this.attempt.state.content;
    const { limits } = this.attempt.request;
    const isUnhurried = call.isUnhurried === true && (content?.length ?? 0) <= littleState;
    return {
      ...(isUnhurried && { GOGC: '400', GOMEMLIMIT: `${Math.floor(limits.memoryBytes * mostHeap)}B` }),
      ...(call.reaches.state && this.#origin !== null ? this.#backend.environment(this.#origin) : {}),
      TF_CLI_CONFIG_FILE: join(places.input, settingsFile),
      TF_IN_AUTOMATION: '1',
      TF_INPUT: '0',
      CHECKPOINT_DISABLE: '1',
    };
  }
}

function dataMounts<Collected>({ initialized, data }: ToolCall<Collected>, module: string): Mount[] {
  const target = join(module, dataDirectory);
  if (data !== undefined) return [{ source: data, target, isWritable: true, isOwn: true }];
  return initialized === null ? [] : [{ source: initialized.data, target, isOwn: true }];
}

/** What the tool itself said first of what is wrong. */
function firstError(text: string): string {
  const found = /^[│ ]*Error: (.+)$/m.exec(text);
  return found ? `: ${found[1]}` : '';
}
