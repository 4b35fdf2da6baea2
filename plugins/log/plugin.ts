import { definePlugin } from '../../kernel/index.ts'

export const log = definePlugin({ name: 'log', setup(_ctx, _options: object = {}) {} })
