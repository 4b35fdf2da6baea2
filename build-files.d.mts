/** The code of a module with the files that it reads beside it, as the build writes it. */
export function withFiles(code: string, id: string): string
