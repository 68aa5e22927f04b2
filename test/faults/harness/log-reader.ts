import type { Client } from './client.ts';

interface Position {
  after: number;
  lines: number;
  text: string;
  isComplete: boolean;
}

/** Reads logs as they grow, and checks every response against the earlier ones. */
export class LogReader {
  readonly #client: Client;
  readonly #violations: string[];
  readonly #positions = new Map<string, Position>();

  constructor(client: Client, violations: string[]) {
    this.#client = client;
    this.#violations = violations;
  }

  /** Continues reading the logs that are not complete yet. */
  async readSome(runIds: readonly string[]): Promise<void> {
    const open = runIds.filter((id) => !this.#positions.get(id)?.isComplete);
    await Promise.all(open.slice(-20).map((id) => this.#continueReading(id)));
  }

  /** Reads the whole log. It is a violation if the log does not begin with everything that was read before. */
  async readWhole(runId: string): Promise<string> {
    const position = this.#positions.get(runId);
    const answer = await this.#client.sendWithRetries('GET', `/runs/${runId}/logs`, undefined, {
      accept: 'text/plain',
    });
    if (position && !answer.text.startsWith(position.text))
      this.#violations.push(
        `the log of run ${runId} no longer begins with the ${position.lines} lines that were read before`,
      );
    return answer.text;
  }

  async #continueReading(runId: string): Promise<void> {
    const position = this.#positions.get(runId) ?? { after: 0, lines: 0, text: '', isComplete: false };
    this.#positions.set(runId, position);
    const answer = await this.#client.send('GET', `/runs/${runId}/logs?after=${position.after}&limit=1000`);
    if (answer?.status !== 200) return;
    for (const { sequence, first_line: firstLine, lines, text } of answer.body.entries) {
      if (sequence !== position.after + 1)
        this.#violations.push(`the log of run ${runId} skips from chunk ${position.after} to ${sequence}`);
      if (firstLine !== position.lines)
        this.#violations.push(
          `chunk ${sequence} of run ${runId} begins at line ${firstLine} instead of ${position.lines}`,
        );
      position.after = sequence;
      position.lines = firstLine + lines;
      position.text += text;
    }
    position.isComplete = answer.body.complete;
  }
}
