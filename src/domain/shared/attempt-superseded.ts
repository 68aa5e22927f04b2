/** The attempt is no longer the current one of its run: another one has begun, or the run has ended. Its writes are refused. */
export class AttemptSuperseded extends Error {
  constructor(attemptId: string) {
    super(`attempt ${attemptId} was superseded: its results are refused`);
    this.name = 'AttemptSuperseded';
  }
}
