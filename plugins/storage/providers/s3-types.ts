import type { Readable } from 'node:stream'

// The used part of the client of S3: its own types choose among the overloads of a hundred commands at each call.

export interface S3Object {
  readonly LastModified?: Date
  readonly ETag?: string
}

export interface S3Response extends S3Object {
  readonly Body?: Readable
  readonly ContentLength?: number
  readonly ContentType?: string
  readonly Contents?: readonly (S3Object & { readonly Key?: string; readonly Size?: number })[]
  readonly NextContinuationToken?: string
  readonly UploadId?: string
  readonly CopyPartResult?: { readonly ETag?: string }
}

export interface S3Client {
  send(command: object, options: { readonly abortSignal: AbortSignal }): Promise<S3Response>
  destroy(): void
}

export type S3Command =
  | `${'Copy' | 'Delete' | 'Get' | 'Head' | 'Put'}ObjectCommand`
  | `${'Abort' | 'Complete' | 'Create'}MultipartUploadCommand`
  | 'HeadBucketCommand'
  | 'ListObjectsV2Command'
  | 'UploadPartCopyCommand'

export interface S3Sdk extends Readonly<Record<S3Command, new (input: object) => object>> {
  readonly S3Client: new (options: object) => S3Client
}

export type SignUrl = (
  client: S3Client,
  command: object,
  options: { readonly expiresIn: number; readonly signableHeaders?: Set<string>; readonly signingDate: Date },
) => Promise<string>

export interface Upload {
  done(): Promise<unknown>
  abort(): Promise<void>
}
