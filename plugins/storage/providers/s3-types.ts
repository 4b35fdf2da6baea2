import type { Readable } from 'node:stream'

// The used part of the client of S3: its own types choose among the overloads of a hundred commands at each call.

export interface S3Response {
  readonly Body?: Readable
  readonly ContentLength?: number
  readonly ContentType?: string
  readonly LastModified?: Date
  readonly ETag?: string
  readonly Contents?: readonly {
    readonly Key?: string
    readonly Size?: number
    readonly LastModified?: Date
    readonly ETag?: string
  }[]
  readonly NextContinuationToken?: string
  readonly UploadId?: string
  readonly CopyPartResult?: { readonly ETag?: string }
}

export interface S3Client {
  send(command: object, options: { readonly abortSignal: AbortSignal }): Promise<S3Response>
  destroy(): void
}

type Command = new (input: object) => object

export interface S3Sdk {
  readonly S3Client: new (options: object) => S3Client
  readonly AbortMultipartUploadCommand: Command
  readonly CompleteMultipartUploadCommand: Command
  readonly CopyObjectCommand: Command
  readonly CreateMultipartUploadCommand: Command
  readonly DeleteObjectCommand: Command
  readonly GetObjectCommand: Command
  readonly HeadBucketCommand: Command
  readonly HeadObjectCommand: Command
  readonly ListObjectsV2Command: Command
  readonly PutObjectCommand: Command
  readonly UploadPartCopyCommand: Command
}

export type SignUrl = (
  client: S3Client,
  command: object,
  options: { readonly expiresIn: number; readonly signableHeaders?: Set<string> },
) => Promise<string>

export interface Upload {
  done(): Promise<unknown>
  abort(): Promise<void>
}
