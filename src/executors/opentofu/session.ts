import { join } from 'node:path';
import type { LogLevel } from '#domain/runs/options/model.ts';
import { compareVersions } from '#domain/tools/ranges.ts';
import type { Attempt, JobResult, JobSpec, ModuleAccess, Results } from '../attempt/attempt.ts';
import { maxDebugBytesOfCall } from '../attempt/debug-log.ts';
import type { JobFile } from '../attempt/work-files.ts';
import type { OpenTofuExecutor, Tool } from '../protocol/request.ts';
import { type Mount, sandboxLayout } from '../sandbox/bubblewrap.ts';
import type { JobPaths } from '../sandbox/job-paths.ts';
import type { Environment } from '../shared/environment.ts';
import { AttemptFailure } from '../shared/errors.ts';
import { lastLine } from '../shared/missing-program.ts';
import { ToolDiagnostics } from './diagnostics/diagnostics.ts';
import { cliSettings, layOutConfiguration, lockFile, readLaidOut } from './initialization/configuration.ts';
import type { StateBackend } from './state/state-backend.ts';
import { dataMounts, type ToolCall } from './tool-call.ts';

/** Files that the service writes for the tool outside of the work directory. */
const settingsFile = 'cli.tfrc';
const variablesFile = 'variables.tfvars.json';
export const planInput = 'plan';
const planOutput = 'coordinator.plan';

const smallStateBytes = 1024 * 1024;
/** Share of the attempt's memory that the heap may reach before the tool collects garbage at its normal pace. */
const relaxedHeapShare = 0.6;

/** One attempt's tool, configuration and backend. */
export class ToolSession {
  readonly attempt: Attempt;
  readonly executor: OpenTofuExecutor;
  readonly tool: Tool;
  readonly #toolMount: Mount;
  readonly #backend: StateBackend;
  readonly #configuration: ReadonlyMap<string, JobFile>;
  readonly #variables: Buffer;
  readonly #diagnostics: ToolDiagnostics;
  #origin: string | null = null;

  /** @throws AttemptFailure if there is no tool, or the configuration cannot be laid out */
  constructor(attempt: Attempt, executor: OpenTofuExecutor, backend: StateBackend, variables: Buffer) {
    const { tool, toolPath } = attempt.request;
    if (tool === null || toolPath === null) {
      throw new AttemptFailure('tool_unavailable', 'neither OpenTofu nor Terraform was found');
    }
    this.attempt = attempt;
    this.executor = executor;
    this.tool = tool;
    const name = tool.name === 'opentofu' ? 'tofu' : 'terraform';
    this.#toolMount = { source: attempt.toolPath(toolPath), target: join(sandboxLayout.tools, name) };
    this.#backend = backend;
    this.#configuration = layOutConfiguration(executor, tool.name, attempt.request.remoteStates);
    this.#variables = variables;
    this.#diagnostics = new ToolDiagnostics(attempt.diagnostics, executor.directory ?? '', executor.files);
    attempt.listen((stream, content) => this.#diagnostics.take(stream, content));
  }

  /** The files directly in a directory of the work directory, by name, as the tool reads them. */
  filesIn(directory: string): ReadonlyMap<string, Buffer> {
    return readLaidOut(this.executor, this.#configuration, directory);
  }

  /** The template's own lock file; null if it has none. */
  get ownLock(): Buffer | null {
    return this.filesIn(this.executor.directory ?? '').get(lockFile) ?? null;
  }

  /** The variables of the plan. */
  get variables(): Buffer {
    return this.#variables;
  }

  /**
   * The options for subcommands other than `plan`. OpenTofu needs the variables for every subcommand, because they may choose modules and
   * keys. Terraform needs them only to plan.
   */
  earlyEvaluationOptions(paths: JobPaths): string[] {
    return this.tool.name === 'opentofu' ? [this.variablesOption(paths)] : [];
  }

  /**
   * The options for applying a plan. OpenTofu gets all variables again, except before 1.11, which refuses them because it reads them only
   * from the plan. Terraform accepts only the ephemeral ones in `file`; null if there are none.
   */
  applyVariablesOptions(paths: JobPaths, file: string | null): string[] {
    const isOpenTofu = this.tool.name === 'opentofu';
    if (isOpenTofu && compareVersions(this.tool.version, '1.11.0-alpha1') < 0) return [];
    if (isOpenTofu) return this.earlyEvaluationOptions(paths);
    return file === null ? [] : [`-var-file=${join(paths.input, file)}`];
  }

  variablesOption(paths: JobPaths): string {
    return `-var-file=${join(paths.input, variablesFile)}`;
  }

  /** The path for the plan. */
  planPath(paths: JobPaths): string {
    return join(paths.temporary, planOutput);
  }

  /** Runs the tool once in a sandbox of its own. @throws AttemptFailure with the call's reason if the tool fails */
  async call<Collected>(call: ToolCall<Collected>): Promise<JobResult<Collected>> {
    if (call.network.state || call.network.egress) await this.#openRelay();
    const result = await this.attempt
      .runJob((paths) => this.#specify(call, paths))
      .finally(() => this.#diagnostics.end());
    if ((call.expected ?? [0]).includes(result.code)) return result;
    throw this.#failed(call, result.code);
  }

  /** Opens access to private modules for a call of `init`. Close it afterwards. */
  async openModules(): Promise<ModuleAccess> {
    await this.#openRelay();
    return this.attempt.openModules();
  }

  async #openRelay(): Promise<void> {
    this.#origin ??= await this.attempt.openRelay(this.#backend);
  }

  /**
   * Makes the error of a failed call. If the tool reported no error in its usual form, for example because it crashed, its last line of
   * output may say why.
   */
  #failed<Collected>({ subcommand, reason }: ToolCall<Collected>, code: number): AttemptFailure {
    const ending = `${this.tool.name} ${subcommand} ended with exit code ${code}`;
    const { diagnostics } = this.attempt;
    if (diagnostics.firstError === null) {
      const printed = lastLine(this.attempt.lastErrors());
      diagnostics.add({ severity: 'error', message: printed === '' ? ending : `${ending}: ${printed}` });
      return new AttemptFailure(reason, ending);
    }
    return new AttemptFailure(reason, `${ending}: ${diagnostics.firstError.message}`);
  }

  #specify<Collected>(call: ToolCall<Collected>, paths: JobPaths): JobSpec<Collected> {
    const { directory = '' } = this.executor;
    const mirror = this.#mirrorMount();
    const { collect, captureBytes, network } = call;
    return {
      steps: [
        {
          title: call.subcommand,
          program: this.attempt.mountedPath(this.#toolMount),
          arguments: [call.subcommand, ...call.options(paths)],
          expected: call.expected ?? [0],
        },
      ],
      files: this.#filesOf(call, mirror),
      mounts: [
        this.#toolMount,
        ...[mirror, call.stock?.mount ?? null].filter((mount) => mount !== null),
        ...dataMounts(call, join(paths.work, directory)),
      ],
      environment: () => this.#environmentOf(call, paths),
      startIn: directory,
      network,
      withoutRunEnvironment: !network.state && !network.egress,
      ...(captureBytes !== undefined && { captureBytes }),
      collect: async (results: Results) => {
        await this.#collectDebugLog(call, results, paths);
        return collect?.(results, paths);
      },
    };
  }

  /** A call that only shows a plan or outputs has no useful log. */
  #logLevelOf<Collected>({ captureBytes }: ToolCall<Collected>): LogLevel | null {
    return captureBytes === undefined ? (this.attempt.request.options?.log_level ?? null) : null;
  }

  /** Collects the debug log of a call. If the log cannot be read, it is left out, and the call still succeeds. */
  async #collectDebugLog<Collected>(call: ToolCall<Collected>, results: Results, paths: JobPaths): Promise<void> {
    if (this.#logLevelOf(call) === null) return;
    const content = await results.readEnd(debugPath(paths), maxDebugBytesOfCall).catch(() => null);
    if (content !== null && content.length > 0)
      this.attempt.debugLog.add(`${this.tool.name} ${call.subcommand}`, content);
  }

  #mirrorMount(): Mount | null {
    const { providerMirror } = this.attempt.settings;
    return providerMirror === null ? null : { source: providerMirror, target: sandboxLayout.providers };
  }

  #filesOf<Collected>(call: ToolCall<Collected>, mirror: Mount | null): Map<string, JobFile> {
    const { seesTemplate = true, seesVariables = seesTemplate } = call;
    const files = new Map<string, JobFile>([...(seesTemplate ? this.#configuration : []), ...(call.extraFiles ?? [])]);
    files.set(settingsFile, Buffer.from(this.#settingsOf(call, mirror)));
    if (seesVariables) files.set(variablesFile, this.#variables);
    const lock = call.initialized?.toolLock ?? null;
    if (lock !== null) files.set(join('work', this.executor.directory ?? '', lockFile), lock);
    // The tool's start directory must exist even without the template's files.
    files.set(join('work', this.executor.directory ?? '', '/'), Buffer.alloc(0));
    return files;
  }

  #settingsOf<Collected>({ modules, stock }: ToolCall<Collected>, mirror: Mount | null): string {
    const { attempt } = this;
    const places = {
      mirror: mirror && attempt.mountedPath(mirror),
      stock: stock?.mount ? { path: attempt.mountedPath(stock.mount), addresses: stock.addresses } : null,
    };
    return cliSettings(attempt.settings, places) + (modules?.settings ?? '');
  }

  #environmentOf<Collected>(call: ToolCall<Collected>, paths: JobPaths): Environment {
    const content = this.attempt.state.content;
    const { limits } = this.attempt.request;
    const level = this.#logLevelOf(call);
    const relaxedGc = call.relaxedGc === true && (content?.length ?? 0) <= smallStateBytes;
    return {
      ...(relaxedGc && { GOGC: '400', GOMEMLIMIT: `${Math.floor(limits.memoryBytes * relaxedHeapShare)}B` }),
      ...(call.network.state && this.#origin !== null ? this.#backend.environment(this.#origin, call.seesState) : {}),
      ...call.modules?.environment,
      TF_CLI_CONFIG_FILE: join(paths.input, settingsFile),
      ...(level !== null && { TF_LOG: level.toUpperCase(), TF_LOG_PATH: debugPath(paths) }),
      TF_IN_AUTOMATION: '1',
      TF_INPUT: '0',
      CHECKPOINT_DISABLE: '1',
    };
  }
}

function debugPath(paths: JobPaths): string {
  return join(paths.temporary, 'coordinator-debug.log');
}
