import type { Client } from './client.ts';

interface Position {
  after: number;
  lines: number;
  text: string;
  isComplete: boolean;
}

/** Reads logs as they come, and holds every later answer to what earlier ones have shown. */
export class LogReader {
  readonly #client: Client;
  readonly #faults: string[];
  readonly #positions = new Map<string, Position>();

  constructor(client: Client, faults: string[]) {
    this.#client = client;
    this.#faults = faults;
  }

  /** Reads on in the logs that are not complete, as far as the service answers. */
  async readSome(runIds: readonly string[]): Promise<void> {
    const open = runIds.filter((id) => !this.#positions.get(id)?.isComplete);
    await Promise.all(open.slice(-20).map((id) => this.#readOn(id)));
  }

  /** The whole log now; a fault where it does not begin with all that was read before. */
  async readWhole(runId: string): Promise<string> {
    const position = this.#positions.get(runId);
    const answer = await this.#client.insist('GET', `/runs/${runId}/logs`, undefined, { accept: 'text/plain' });
    if (position && !answer.text.startsWith(position.text))
      this.#faults.push(`the log of ${runId} no longer begins with the ${position.lines} lines that were read before`);
    return answer.text;
  }

  async #readOn(runId: string): Promise<void> {
    const position = this.#positions.get(runId) ?? { after: 0, lines: 0, text: '', isComplete: false };
    this.#positions.set(runId, position);
    const answer = await this.#client.try('GET', `/runs/${runId}/logs?after=${position.after}&limit=1000`);
    if (answer?.status !== 200) return;
    for (const { sequence, first_line: firstLine, lines, text } of answer.body.entries) {
      if (sequence !== position.after + 1)
        this.#faults.push(`the log of ${runId} goes from chunk ${position.after} to ${sequence}`);
      if (firstLine !== position.lines)
        this.#faults.push(`chunk ${sequence} of ${runId} begins with line ${firstLine}, not ${position.lines}`);
      position.after = sequence;
      position.lines = firstLine + lines;
      position.text += text;
    }
    position.isComplete = answer.body.complete;
  }
}
