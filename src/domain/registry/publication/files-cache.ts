import { sizeOf, type TemplateFiles } from '#domain/sources/files.ts';

/** The files of the versions that were used last, up to a number of bytes. Like everything of a version, they never change. */
export class FilesCache {
  readonly #maxBytes: number;
  /** In the order of their last use. */
  readonly #kept = new Map<string, { readonly files: TemplateFiles; readonly bytes: number }>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(id: string): TemplateFiles | undefined {
    const known = this.#kept.get(id);
    if (!known) return undefined;
    this.#kept.delete(id);
    this.#kept.set(id, known);
    return known.files;
  }

  set(id: string, files: TemplateFiles): void {
    this.#remove(id);
    const bytes = Object.values(files).reduce((sum, content) => sum + sizeOf(content), 0);
    if (bytes > this.#maxBytes) return;
    this.#kept.set(id, { files, bytes });
    this.#bytes += bytes;
    for (const [oldest] of this.#kept) {
      if (this.#bytes <= this.#maxBytes) return;
      this.#remove(oldest);
    }
  }

  #remove(id: string): void {
    this.#bytes -= this.#kept.get(id)?.bytes ?? 0;
    this.#kept.delete(id);
  }
}
