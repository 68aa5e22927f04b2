import { Invalid } from '#domain/shared/errors.ts';

/** A file that a form sent. */
export class UploadedFile {
  /** As the browser names it: with its folders, if a folder was chosen. */
  readonly path: string;
  readonly bytes: Buffer;

  constructor(path: string, bytes: Buffer) {
    this.path = path;
    this.bytes = bytes;
  }
}

export type FormValue = string | UploadedFile;

/**
 * Parses a form that may hold files, by the platform's own parser. The body is small and in memory already. A field that was sent
 * several times is a list; a file field into which nothing was put is left out. @throws Invalid if the body is no such form
 */
export async function parseUploads(
  contentType: string,
  body: Buffer,
): Promise<Record<string, FormValue | FormValue[]>> {
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } })
    .formData()
    .catch(() => {
      throw new Invalid('the form is not valid multipart/form-data');
    });
  const fields = new Map<string, FormValue[]>();
  for (const [name, value] of form) {
    const read = typeof value === 'string' ? value : await readFile(value);
    if (read !== null) fields.set(name, [...(fields.get(name) ?? []), read]);
  }
  return Object.fromEntries(
    [...fields].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]),
  );
}

async function readFile(file: File): Promise<UploadedFile | null> {
  if (file.name === '' && file.size === 0) return null;
  return new UploadedFile(file.name, Buffer.from(await file.arrayBuffer()));
}
