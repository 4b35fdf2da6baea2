// The names that `framework` has as well.
import type { UploadedFile } from './file.ts'
import type { RouteUploadOptions } from './options.ts'

export type { UploadedFile } from './file.ts'
export type { RouteUploadOptions, UploadOptions } from './options.ts'
export type { UploadSink, UploadSource } from './store.ts'

// In the files that declare the interfaces: merging into the entry point would hide them from applications that merge into theirs.
declare module '../../kernel/http/request/request.ts' {
  interface Request {
    /** The uploaded files in the order of the form; empty if there are no files. */
    readonly files: readonly UploadedFile[]
    /** Returns the first uploaded file of a field; the type argument is the type of a custom sink's result. */
    file<Result = unknown>(field: string): UploadedFile<Result> | undefined
  }
}

declare module '../../kernel/routing/options.ts' {
  interface RouteOptions {
    /** Limits and storage for uploads to this route instead of the plugin's; `false`: multipart bodies are not read. */
    upload?: false | RouteUploadOptions
  }
}
