/** The reason why a tool was not added or removed, in one sentence that says what to do. It is printed without a stack trace. */
export class ToolsError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ToolsError';
  }
}
