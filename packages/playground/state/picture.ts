const TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
/** Larger files are not decoded. */
const MAX_FILE_BYTES = 20 * 1024 * 1024
/** Longer sides are scaled down: models read no more, and the conversation keeps the picture. */
const MAX_SIDE = 1_024

/** A picture for the model and for the thumbnail, as a data URL; null when the file is none. */
export async function pictureOf(file: File): Promise<string | null> {
  if (!TYPES.includes(file.type) || file.size > MAX_FILE_BYTES) return null
  try {
    const bitmap = await createImageBitmap(file)
    const scale = Math.min(1, MAX_SIDE / Math.max(bitmap.width, bitmap.height))
    const canvas = document.createElement('canvas')
    canvas.width = Math.max(1, Math.round(bitmap.width * scale))
    canvas.height = Math.max(1, Math.round(bitmap.height * scale))
    canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height)
    bitmap.close()
    const png = canvas.toDataURL('image/png')
    const jpeg = canvas.toDataURL('image/jpeg', 0.85)
    return file.type === 'image/jpeg' || png.length > 4 * jpeg.length ? jpeg : png
  } catch {
    // Not a picture in spite of its name.
    return null
  }
}
