import { definePlugin } from '../../kernel/index.ts'

export const cors = definePlugin({ name: 'cors', setup(_ctx, _options: object = {}) {} })
