import { now, type ProgramCall, programCalls } from '#domain/shared/tasks/spans.ts';
import { type HostSpan, maxHostSpans } from '../protocol/result-schema.ts';

/** Times the calls of programs of one attempt. Its result has the first of them, which the worker announces. */
export class AttemptSpans {
  readonly #spans: HostSpan[] = [];
  readonly #isTool: boolean;

  /** @param isTool whether the titles of steps are subcommands of the tool, and not words of the template's author */
  constructor(isTool: boolean) {
    this.#isTool = isTool;
  }

  list(): HostSpan[] {
    return this.#spans;
  }

  /** Begins to time a job. Call what it returns at the end of each part with the step that the part belongs to: the next part begins there. */
  startJob(steps: readonly { readonly title: string }[]): (part: HostSpan['name'], step: number) => void {
    let startedAt = now();
    return (name, step) => {
      const span = { name, call: this.#callOf(steps[step]?.title), startedAt, endedAt: now() };
      if (this.#spans.length < maxHostSpans) this.#spans.push(span);
      startedAt = span.endedAt;
    };
  }

  #callOf(title: string | undefined): ProgramCall {
    return (this.#isTool && programCalls.find((call) => call === title)) || 'step';
  }
}
