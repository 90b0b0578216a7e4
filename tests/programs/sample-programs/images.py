# %% Pillow draws text and saves
#| file: out.png
#| stdout: (200, 100)
from PIL import Image, ImageDraw, ImageFilter, ImageFont
image = Image.new("RGB", (200, 100), "white"); ImageDraw.Draw(image).text((10, 10), "Hello", fill="black", font=ImageFont.load_default(20))
image.filter(ImageFilter.GaussianBlur(1)).save("/mnt/data/out.png"); print(image.size)

# %% Pillow with a font by name
#| image: standard
#| stdout: Liberation
from PIL import ImageFont
for name in ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "LiberationSans-Regular.ttf", "arial.ttf", "Arial.ttf"):
    font = ImageFont.truetype(name, 20)
print(font.getname()[0])

# %% an image as the last expression
#| figure
from PIL import Image
Image.new("RGB", (20, 20), "red")

# %% OpenCV finds edges and contours
#| image: standard
#| stdout: 1 contour
import cv2, numpy as np
image = np.zeros((100, 100, 3), np.uint8); cv2.rectangle(image, (20, 20), (80, 80), (255, 255, 255), -1)
gray = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY); contours, _ = cv2.findContours(gray, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
cv2.imwrite("/mnt/data/edges.png", cv2.Canny(gray, 50, 150)); print(len(contours), "contour")

# %% OpenCV face cascade is present
#| image: standard
#| stdout: False
import cv2
print(cv2.CascadeClassifier(cv2.data.haarcascades + "haarcascade_frontalface_default.xml").empty())

# %% video written and read with OpenCV
#| image: standard
#| file: v.mp4
#| stdout: 10 frames
import cv2, numpy as np
out = cv2.VideoWriter("/mnt/data/v.mp4", cv2.VideoWriter_fourcc(*"mp4v"), 10, (64, 48))
for n in range(10):
    out.write(np.full((48, 64, 3), n * 20, np.uint8))
out.release()
print(int(cv2.VideoCapture("/mnt/data/v.mp4").get(cv2.CAP_PROP_FRAME_COUNT)), "frames")

# %% scikit-image segmentation
#| image: standard
#| stdout: labels
#| stderr: any
from skimage import data, filters, measure, morphology, transform
coins = data.coins(); mask = morphology.remove_small_objects(coins > filters.threshold_otsu(coins), 50)
print("labels", measure.label(mask).max() > 5, transform.resize(coins, (20, 20)).shape)

# %% imageio GIF and MP4
#| image: standard
#| file: x.gif
#| file: x.mp4
import imageio.v2 as imageio, numpy as np
frames = [np.full((32, 32, 3), n * 25, np.uint8) for n in range(8)]
imageio.mimsave("/mnt/data/x.gif", frames, fps=4); imageio.mimsave("/mnt/data/x.mp4", frames, fps=4)

# %% ffmpeg converts a video
#| image: standard
#| file: t.webm
#| stderr: any
!ffmpeg -v error -f lavfi -i testsrc=duration=1:size=64x48:rate=5 -y /mnt/data/t.mp4 && ffmpeg -v error -i /mnt/data/t.mp4 -c:v libvpx -y /mnt/data/t.webm && ls -l /mnt/data

# %% QR code
#| image: standard
#| file: qr.png
import qrcode
qrcode.make("https://example.org").save("/mnt/data/qr.png")

# %% EXIF, thumbnails and formats
#| stdout: WEBP (64, 64)
from PIL import Image
image = Image.new("RGB", (128, 128), "blue"); image.thumbnail((64, 64)); image.save("/mnt/data/t.webp"); image.save("/mnt/data/t.jpg", quality=80, exif=image.getexif())
opened = Image.open("/mnt/data/t.webp"); print(opened.format, opened.size)

# %% image arrays with numpy and FFT
#| stdout: (64, 64)
import numpy as np
from scipy import fft, ndimage
a = np.random.default_rng(0).random((64, 64)); print(np.abs(fft.fft2(ndimage.gaussian_filter(a, 2))).shape)

# %% SVG written by hand and displayed
#| mime: image/svg+xml
from IPython.display import SVG
SVG('<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><circle cx="10" cy="10" r="8"/></svg>')

# %% ZIP of pictures becomes a contact sheet
#| stdout: (90, 20)
#| file: contact.jpg
import io, zipfile
import numpy as np
from PIL import Image
with zipfile.ZipFile("pictures.zip", "w") as archive:
    for number in range(3):
        content = io.BytesIO(); Image.fromarray(np.full((20, 30, 3), number * 80, np.uint8)).save(content, "PNG")
        archive.writestr(f"folder/{number}.png", content.getvalue())
sheet = Image.new("RGB", (90, 20))
with zipfile.ZipFile("pictures.zip") as archive:
    for number, name in enumerate(archive.namelist()): sheet.paste(Image.open(archive.open(name)), (number * 30, 0))
sheet.save("contact.jpg"); print(sheet.size)

# %% QR code is written and read
#| image: standard
#| stdout: https://example.com/ä
import cv2, qrcode
qrcode.make("https://example.com/ä").save("code.png")
print(cv2.QRCodeDetector().detectAndDecode(cv2.imread("code.png"))[0])

# %% film of frames is shown
#| image: standard
#| stdout: 5.0
#| mime: text/html
import imageio.v3 as iio, numpy as np
from IPython.display import Video, display
iio.imwrite("film.mp4", np.random.default_rng(1).integers(0, 255, (10, 64, 64, 3), np.uint8), fps=5)
print(iio.immeta("film.mp4")["fps"]); display(Video("film.mp4", embed=True))

# %% cv2.imshow shows the picture
#| image: standard
#| figures: 1
import cv2, numpy as np
cv2.imshow("window", np.full((40, 40, 3), 200, np.uint8))
if cv2.waitKey(0) & 0xFF == ord("q"): print("quit")
cv2.destroyAllWindows()

# %% loops that wait for a key of OpenCV end
#| image: standard
#| figures: 2
#| stdout: 2001
#| stdout: 2002
#| stderr: the sandbox has no keyboard
import cv2, numpy as np
for key in (27, ord("q")):
    picture, waits = np.full((40, 40, 3), key, np.uint8), 0
    while True:
        cv2.imshow("window", picture); waits += 1
        if cv2.waitKey(1) & 0xFF == key: break
    print(waits)

# %% every frame of a film is read in a loop that asks for keys
#| image: standard
#| figures: 8
#| stdout: 150
#| stderr: limit of 8 pictures
import cv2, numpy as np
frames = 0
for n in range(150):
    cv2.imshow("film", np.full((20, 20), n, np.uint8)); frames += 1
    if cv2.waitKey(0) == 27: break
print(frames)

# %% a photograph of a phone (HEIC) is read
#| image: standard
#| stdout: (64, 48) HEIF
from PIL import Image
from pillow_heif import register_heif_opener
register_heif_opener()
Image.new("RGB", (64, 48), "red").save("photo.heic")
picture = Image.open("photo.heic"); print(picture.size, picture.format)
