import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  server: {
    // The page and the API have one origin, in development as in production: no cors, and cookies work.
    proxy: {
      '/api': process.env.API ?? 'http://localhost:3000',
      '/live': { target: process.env.API ?? 'http://localhost:3000', ws: true },
    },
  },
  build: { outDir: 'dist', sourcemap: true },
})
