import { type WorkKind, workKind } from '../shared/work/kind.ts'
import type { UploadTrace } from './receiver.ts'

export const work: readonly WorkKind[] = [
  workKind<UploadTrace>({
    channel: 'upload',
    list: { id: 'upload', title: 'Uploads' },
    help: 'Forms with files that were read',
    span: () => 'upload',
    title: ({ request }) => request.route ?? request.path,
    ended: ({ files, bytes }) => ({ 'framework.upload.files': files, 'framework.upload.size': bytes }),
    measures: [
      { name: 'upload_files', type: 'counter', help: 'Files that were uploaded', of: ({ files }) => files },
      {
        name: 'upload_bytes',
        type: 'counter',
        help: 'Bytes of the files that were uploaded',
        unit: 'bytes',
        of: ({ bytes }) => bytes,
      },
    ],
  }),
]
