import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: '../dist/view/pages',
    emptyOutDir: true,
    target: 'es2023',
    // A data: address for a small picture would need an exception in the policy.
    assetsInlineLimit: 0,
    // Preloading is done with a script of its own, which nothing here needs.
    modulePreload: { polyfill: false },
  },
})
